import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { expectRise } from '../../../test/end-to-end/operations/scraped.ts';
import { describeInBrowser } from '../../../test/support/describe-in-browser.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { endPrograms, type Program, startProgram } from '../support/example-process.ts';
import { createApp, type InstalledApp, packagesOf } from '../support/installed-app.ts';
import { namedSamples } from '../support/samples.ts';

// npm installs and builds hundreds of packages.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 900_000 });

const GUIDES_URL = 'http://127.0.0.1:4000';
const DONE = 'Done.';
const UNKNOWN = /^We have no confirmation of your order\./;

/** An app whose files are those of a page of the documentation. */
interface FormApp {
  readonly name: string;
  /** The page of the documentation. */
  readonly page: string;
  /** The folder with its lock file, next to this file. */
  readonly packages: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Makes what the framework's own program makes of a new app, which will be served at this address. */
  create(app: InstalledApp, url: string): Promise<void> | void;
  readonly build: readonly [script: string, ...args: readonly string[]];
  /** The arguments of Node that serve the built app. The port and host are in the environment. */
  readonly serve: readonly string[];
}

const next: FormApp = {
  name: 'Next',
  page: 'docs/next.md',
  packages: 'next-packages',
  env: { NEXT_TELEMETRY_DISABLED: '1' },
  async create(app) {
    const options = '--yes --ts --app --no-tailwind --no-linter --no-src-dir --skip-install';
    await app.create('create-next-app/dist/index.js', 'app', ...options.split(' '));
    // The layout of a new app would fetch its fonts in the build.
    app.write(
      'app/layout.tsx',
      `export default ({ children }: { children: React.ReactNode }) =>
  <html lang="en"><body>{children}</body></html>;`,
    );
  },
  build: ['next/dist/bin/next', 'build'],
  serve: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
};

const svelteKit: FormApp = {
  name: 'SvelteKit',
  page: 'docs/sveltekit.md',
  packages: 'svelte-packages',
  create(app, url) {
    app.write('package.json', '{"name":"app","private":true,"type":"module"}');
    app.write(
      'vite.config.js',
      `import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
export default { plugins: [sveltekit({ adapter: adapter(), paths: { origin: '${url}' } })] };`,
    );
    app.write(
      'src/app.html',
      '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    );
  },
  build: ['vite/bin/vite.js', 'build'],
  serve: ['build/index.js'],
};

const nuxt: FormApp = {
  name: 'Nuxt',
  page: 'docs/nuxt.md',
  packages: 'nuxt-packages',
  env: { NUXT_TELEMETRY_DISABLED: '1' },
  create(app) {
    app.write('package.json', '{"name":"app","private":true,"type":"module"}');
    app.write(
      'nuxt.config.ts',
      "export default defineNuxtConfig({ compatibilityDate: '2026-11-01', telemetry: false });",
    );
    app.write('tsconfig.json', '{"files":[],"references":[{"path":"./.nuxt/tsconfig.app.json"}]}');
  },
  build: ['nuxt/bin/nuxt.mjs', 'build'],
  serve: ['.output/server/index.mjs'],
};

const FORM_APPS: readonly FormApp[] = [next, svelteKit, nuxt];

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

      test('each answer belongs to the user who asks, and none is kept for the next', async () => {
        const signedIn = async (email: string) => {
          const token = service.sandbox.token({ email });
          const { data } = await service.query('{ session { balance } }', { token });
          return { token, heading: String(data.session.balance) };
        };
        const users = [await signedIn('demo@example.com'), await signedIn('pro@example.com')];
        expect(users[0]?.heading).not.toBe(users[1]?.heading);
        const visitors = [...users, { token: 'ended', heading: undefined }];
        const visits = Array.from({ length: 20 }, () => visitors).flat();
        const headingFor = async (token: string) => {
          const answer = await fetch(url, { headers: { cookie: `theme=dark; token=${token}` } });
          expect(answer.headers.get('cache-control') ?? '').not.toMatch(/public|s-maxage/);
          return /<h1[^>]*>(.*?)<\/h1>/.exec(await answer.text())?.[1];
        };
        // The service answers each of the users’ visits itself.
        await expectRise(
          service,
          'operations_total{transport="http",outcome="ok"}',
          40,
          async () => {
            const headings = await Promise.all(visits.map(({ token }) => headingFor(token)));
            expect(headings).toEqual(visits.map(({ heading }) => heading));
          },
        );
      });

      test('two taps are one order', async () => {
        await using visitor = await visit();
        const { page } = visitor;
        await openForm(page);
        await page.getByRole('button', { name: 'Buy 1' }).dblclick();
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
