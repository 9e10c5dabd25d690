import { startTestApp, type TestApp } from './app.ts';
import { startedForEach, startedOnce } from './started.ts';

/** A service for all tests of a file or a suite. */
export function sharedApp(...options: Parameters<typeof startTestApp>): TestApp {
  return startedOnce(() => startTestApp(...options));
}

/** A service for each test. */
export function ownApp(...options: Parameters<typeof startTestApp>): TestApp {
  return startedForEach(() => startTestApp(...options));
}
