import { afterAll, beforeAll } from 'vitest';
import { startTestApp, type TestApp } from './app.ts';

/** A service for all tests of a file or a suite: started before them, and closed behind them. */
export function sharedApp(...options: Parameters<typeof startTestApp>): TestApp {
  let shared: TestApp | undefined;
  beforeAll(async () => {
    shared = await startTestApp(...options);
  });
  afterAll(() => shared?.close());
  // Stands for what there is only once the tests begin.
  return new Proxy({} as TestApp, {
    get(_, name) {
      if (shared === undefined) throw new Error(`${String(name)} is asked for before the tests`);
      const value: unknown = Reflect.get(shared, name);
      return typeof value === 'function' ? value.bind(shared) : value;
    },
  });
}
