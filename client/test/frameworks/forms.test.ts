import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeInBrowser } from '../../../test/support/describe-in-browser.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';
import { createApp, type InstalledApp, packagesOf } from '../support/installed-app.ts';
import { namedSamples } from '../support/samples.ts';
import { FORM_APPS } from './form-apps.ts';

// npm installs and builds hundreds of packages.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 900_000 });

const GUIDES_URL = 'http://127.0.0.1:4000';
const DONE = 'Done.';
const UNKNOWN = /^We have no confirmation of your order\./;

const service = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000', RATE_LIMIT_PER_MINUTE: '1000000' });

const suites = await Promise.all(
  FORM_APPS.map(async (own) => ({
    ...own,
    ...(await packagesOf(join(import.meta.dirname, own.packages))),
  })),
);

describeInBrowser('the guide’s form', (browser) => {
  for (const { name, page: guide, packages, reason, env = {}, create, build, serve } of suites) {
    describe.skipIf(reason !== '')(`of ${name}${reason}`, () => {
      let app: InstalledApp;
      let server: Program;
      let url: string;

      beforeAll(async () => {
        app = createApp(packages, env);
        const port = await freePort();
        url = `http://127.0.0.1:${port}`;
        await create(app, url);
        for (const [file, { text }] of namedSamples(guide)) {
          app.write(file, text.replaceAll(GUIDES_URL, service.url));
        }
        await app.install();
        await app.run(...build);
        const own = { ...app.env, HOST: '127.0.0.1', PORT: String(port) };
        server = startProgram(process.execPath, serve, own, app.folder);
        await eventually(() => fetch(url).then(({ ok }) => ok), server.whileOpen);
      });
      afterAll(async () => {
        await endPrograms();
        app?.[Symbol.dispose]();
      });
      beforeEach(() => service.sandbox.reset());

      const calls = () => service.sandbox.calls('openPosition');

      /** A user who has signed in, on the home page. */
      async function visit() {
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.goto(url);
        await page.locator('[name=email]').fill('demo@example.com');
        await page.locator('[name=password]').fill('demo');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('link', { name: 'Buy' }).waitFor();
        return { page, [Symbol.asyncDispose]: () => context.close() };
      }

      /** Opens the form by its link. */
      async function openForm(page: Page, symbol = 'AAPL') {
        await page.getByRole('link', { name: 'Buy' }).click();
        await page.waitForURL(/\?order=[\da-f-]{36}/);
        await page.locator('[name=symbol]').fill(symbol);
      }

      const says = (page: Page, text: string | RegExp) =>
        page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: 40_000 });

      test('signs in, and follows the positions live', async () => {
        await using visitor = await visit();
        await visitor.page.getByRole('heading', { name: 'LIVE' }).waitFor();
        expect(await visitor.page.locator('p').count()).toBeGreaterThan(3);
      });

      test('two taps are one order', async () => {
        await using visitor = await visit();
        const { page } = visitor;
        await openForm(page);
        await page.getByRole('button', { name: 'Buy 1' }).dblclick();
        await says(page, DONE);
        expect(calls()).toBe(1);
      });

      test('a reload while the order is under way shows its outcome', async () => {
        service.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 2_000 });
        await using visitor = await visit();
        const { page } = visitor;
        await openForm(page);
        await page.getByRole('button', { name: 'Buy 1' }).click({ noWaitAfter: true });
        await eventually(() => expect(calls()).toBe(1));
        // The browser ends either the reload or the form's request.
        await page.reload().catch(() => {});
        await says(page, DONE);
        expect(calls()).toBe(1);
      });

      test('an unknown outcome leads back to the same key, and asking again sends nothing', async () => {
        await using visitor = await visit();
        const { page } = visitor;
        await openForm(page, 'TEST.UNKNOWN');
        const key = new URL(page.url()).searchParams.get('order');
        await page.getByRole('button', { name: 'Buy 1' }).click();
        await says(page, UNKNOWN);
        await page.getByRole('button', { name: 'Ask again' }).click();
        await page.waitForLoadState('networkidle');
        await says(page, UNKNOWN);
        expect(new URL(page.url()).searchParams.get('order')).toBe(key);
        expect(calls()).toBe(1);
        await page.getByRole('link', { name: 'New order' }).click();
        await page.waitForURL((now) => ![null, key].includes(now.searchParams.get('order')));
        await page.getByRole('button', { name: 'Buy 1' }).waitFor();
      });
    });
  }
});
