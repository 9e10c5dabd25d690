import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

type Closable = { close(): unknown } | AsyncDisposable;

/** Starts an object before the first test of a file or a suite, and closes it after the last test. */
export function startedOnce<T extends Closable>(start: () => Promise<T>): T {
  return standIn(start, beforeAll, afterAll);
}

/** Starts an object before each test, and closes it after the test. The newest object is closed first. */
export function startedForEach<T extends Closable>(start: () => Promise<T>): T {
  return standIn(start, beforeEach, afterEach);
}

type Hook = (task: () => Promise<void>) => void;

/** Forwards to an object that exists only while the tests run. */
function standIn<T extends Closable>(start: () => Promise<T>, before: Hook, after: Hook): T {
  let started: T | undefined;
  before(async () => {
    started = await start();
  });
  after(async () => {
    if (started === undefined) return;
    await ('close' in started ? started.close() : started[Symbol.asyncDispose]());
    started = undefined;
  });
  const startedFor = (name: string | symbol) => {
    if (started === undefined) throw new Error(`${String(name)} is used outside of a test`);
    return started;
  };
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(startedFor(name), name);
      return typeof value === 'function' ? value.bind(started) : value;
    },
    set: (_, name, value) => Reflect.set(startedFor(name), name, value),
  });
}
