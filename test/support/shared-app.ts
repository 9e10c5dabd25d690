import { chromium } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { startTestApp, type TestApp } from './app.ts';

/** A service for all tests of a file or a suite: started before them, and closed behind them. */
export function sharedApp(...options: Parameters<typeof startTestApp>): TestApp {
  return shareable(
    () => startTestApp(...options),
    (app) => app[Symbol.asyncDispose](),
  );
}

/** As that, a browser. */
export function sharedBrowser(executablePath: string) {
  return shareable(
    () => chromium.launch({ executablePath, args: ['--no-sandbox'] }),
    (browser) => browser.close(),
  );
}

/** Stands for what there is only once the tests begin. */
export function shareable<T extends object>(
  open: () => Promise<T>,
  close: (shared: T) => PromiseLike<unknown>,
): T {
  let shared: T | undefined;
  beforeAll(async () => {
    shared = await open();
  });
  afterAll(() => shared && close(shared));
  return new Proxy({} as T, {
    get(_, name) {
      if (shared === undefined) throw new Error(`${String(name)} is asked for before the tests`);
      const value: unknown = Reflect.get(shared, name);
      return typeof value === 'function' ? value.bind(shared) : value;
    },
  });
}
