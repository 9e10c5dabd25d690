import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build, preview } from 'vite';
import { afterEach, expect } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { startedOnce } from '../../../test/support/started.ts';
import { clientSources } from './client-sources.ts';
import { startCutProxy } from './cut-proxy.ts';

const root = join(import.meta.dirname, '..', '..', '..');

export interface ExampleAppOptions {
  /** A Vite project, relative to the root of this project: `examples/react`. */
  readonly folder: string;
  /** The path of Chromium. */
  readonly executablePath: string;
  /** `development` builds with React's warnings and with the double mount of its strict mode. */
  readonly nodeEnvironment?: 'production' | 'development';
}

export interface ExampleView {
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
}

/** A Vite project that is built and served, with its facade. The connection between them can be cut. */
export type ExampleApp = Awaited<ReturnType<typeof startExampleApp>>;

const FACADE = {
  POSITIONS_POLL_MS: '100',
  RATE_LIMIT_PER_MINUTE: '1000000',
  LOGIN_LIMIT_PER_MINUTE: '1000',
};

/**
 * One app for all tests of a suite. Each test begins with the gateway and the connection reset, and fails for an error in
 * its pages.
 */
export function exampleApp(options: ExampleAppOptions): ExampleApp {
  const app = startedOnce(() => startExampleApp(options));
  afterEach(async () => {
    const errors = await app.closePages();
    app.facade.sandbox.reset();
    await app.line.heal();
    expect(errors).toEqual([]);
  });
  return app;
}

/** Builds and serves the project. Its page gets the endpoint's address from `VITE_GRAPHQL_URL`, like any page of Vite. */
async function startExampleApp({
  folder,
  executablePath,
  nodeEnvironment = 'production',
}: ExampleAppOptions) {
  await using started = new AsyncDisposableStack();
  const facade = started.use(await startTestApp(FACADE));
  const line = started.adopt(await startCutProxy(facade.url), (proxy) => proxy.close());
  const built = started.adopt(mkdtempSync(join(tmpdir(), 'example-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  await buildExample(join(root, folder), built, `${line.url}/graphql`, nodeEnvironment);
  const server = started.adopt(
    await preview({
      configFile: false,
      root: join(root, folder),
      logLevel: 'warn',
      build: { outDir: built },
      preview: { host: '127.0.0.1', port: 0 },
    }),
    (previewed) => previewed.close(),
  );
  const { port } = server.httpServer.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const browser = started.adopt(await launchChromium(executablePath), (launched) =>
    launched.close(),
  );
  const owned = started.move();
  const errors: string[] = [];
  return {
    facade,
    line,
    /** Opens the page with a new browser profile. */
    open: (view?: Partial<ExampleView>) => openExample(browser, url, errors, view),
    /** Ends the pages, so that they send nothing during the next test; returns their errors. */
    async closePages() {
      await Promise.all(browser.contexts().map((context) => context.close()));
      return errors.splice(0);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Opens a page, and collects its uncaught errors and its console errors in `errors`. */
async function openExample(
  browser: Browser,
  url: string,
  errors: string[],
  { width = 1280, height = 800, theme = 'light' }: Partial<ExampleView> = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    // The browser also reports the connections that tests cut or refuse on purpose.
    const isNetwork = /ERR_|WebSocket connection/.test(message.text());
    if (message.type() === 'error' && !isNetwork) errors.push(message.text());
  });
  await page.goto(url);
  return page;
}

/** Builds the project. Vite and its React plugin read NODE_ENV, which the test runner has set to `test`. */
async function buildExample(
  source: string,
  outDir: string,
  endpoint: string,
  nodeEnvironment: string,
): Promise<void> {
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = nodeEnvironment;
  try {
    await build({
      root: source,
      configLoader: 'native',
      mode: nodeEnvironment,
      logLevel: 'warn',
      // With `pre` this plugin is asked before Vite's own resolution, which would find an installed package.
      plugins: [{ ...clientSources(), enforce: 'pre' }],
      define: { 'import.meta.env.VITE_GRAPHQL_URL': JSON.stringify(endpoint) },
      // Uses the project's own packages, even if the example's packages are installed too.
      resolve: { dedupe: ['react', 'react-dom', 'graphql'] },
      build: { outDir, emptyOutDir: true, minify: nodeEnvironment === 'production' },
    });
  } finally {
    process.env.NODE_ENV = NODE_ENV;
  }
}
