import { readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { endPrograms, startProgram } from '../support/example-process.ts';
import { createApp, type InstalledApp, packagesOf } from '../support/installed-app.ts';
import { namedSamples } from '../support/samples.ts';

// npm installs hundreds of packages.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 900_000 });

const root = join(import.meta.dirname, '..', '..', '..');
interface Recipe {
  readonly page: string;
  /** The packages that its commands install in place of others. */
  readonly instead?: Readonly<Record<string, string>>;
}

const RECIPES: readonly Recipe[] = [
  { page: 'docs/apollo.md' },
  { page: 'docs/urql.md', instead: { typescript: 'typescript-6' } },
  { page: 'docs/relay.md' },
  { page: 'docs/tanstack-query.md' },
];
/** Stricter than the app that create-vite makes. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
};

const service = sharedApp({ POSITIONS_POLL_MS: '100' });
const { packages, reason } = await packagesOf(join(import.meta.dirname, 'recipe-packages'));

describe.skipIf(reason !== '')(`the guides for other GraphQL clients${reason}`, () => {
  describeWithChromium('in a browser', (executablePath) => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(executablePath);
    });
    afterAll(async () => {
      await endPrograms();
      await browser?.close();
    });

    test.each(RECIPES)(
      '$page leads to an app with queries, live positions and an order',
      async (recipe) => {
        using app = createApp(packages);
        await make(app, recipe);
        const port = await freePort();
        const url = `http://127.0.0.1:${port}`;
        const args = ['--port', `${port}`, '--strictPort', '--host', '127.0.0.1'];
        // A build for development has the warnings of all libraries.
        const vite = ['node_modules/vite/bin/vite.js', ...args];
        const server = startProgram(process.execPath, vite, app.env, app.folder);
        await eventually(() => fetch(url).then(({ ok }) => ok), server.whileOpen);
        const page = await browser.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => {
          if (/warning|error/.test(message.type())) complaints.push(message.text());
        });
        page.on('pageerror', ({ message }) => complaints.push(message));
        await page.goto(url);

        const token = service.sandbox.token({ email: 'demo@example.com' });
        const { data } = await service.query('{ session { balance } positions { symbol } }', {
          token,
        });
        await page.getByRole('heading').getByText(`LIVE ${data.session.balance}`).waitFor();
        const rows = async () =>
          (await page.locator('p').allTextContents()).map((text) => text.split(':')[0]);
        expect((await rows()).sort()).toEqual(
          data.positions.map(({ symbol }: { symbol: string }) => symbol).sort(),
        );
        const buy = page.getByRole('button', { name: 'Buy 1 AAPL' });
        const before = service.sandbox.orders().length;
        for (const placed of [1, 2]) {
          await buy.dblclick();
          await page.getByText('Done.').waitFor();
          await eventually(async () =>
            expect(await rows()).toHaveLength(data.positions.length + placed),
          );
          expect(service.sandbox.orders()).toHaveLength(before + placed);
          await page.getByRole('button', { name: 'New order' }).click();
          expect(await page.getByText('Done.').count()).toBe(0);
        }
        expect(complaints).toEqual([]);
        await page.close();
      },
    );
  });
});

/** Follows a page: makes the app, writes its files, runs its commands, and builds it. */
async function make(app: InstalledApp, { page, instead }: Recipe): Promise<void> {
  await app.create('create-vite/index.js', 'app', '--template', 'react-ts', '--no-interactive');
  if (instead === undefined) await app.link();
  else {
    await app.install();
    for (const [name, other] of Object.entries(instead)) {
      const modules = join(app.folder, 'node_modules');
      rmSync(join(modules, name), { recursive: true });
      renameSync(join(modules, other), join(modules, name));
    }
  }
  symlinkSync(root, join(app.folder, '..', 'trading-graph'));
  for (const [file, { text }] of namedSamples(page)) {
    app.write(file, text.replaceAll('http://127.0.0.1:4000', service.url));
  }
  const text = readFileSync(join(root, page), 'utf8');
  for (const [, command = ''] of text.matchAll(/`npx ([^`]+)`/g)) {
    const [program, ...args] = command.split(' ');
    await app.run(`.bin/${program}`, ...args);
  }
  const strict = {
    extends: './tsconfig.app.json',
    compilerOptions: STRICT,
    include: ['src', 'codegen.ts', 'vite.config.ts'],
  };
  app.write('tsconfig.strict.json', JSON.stringify(strict));
  await app.run('typescript/bin/tsc', '-p', 'tsconfig.strict.json');
  await app.run('vite/bin/vite.js', 'build');
}
