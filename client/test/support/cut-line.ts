import type { TestApp } from '../../../test/support/app.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { startCore, type TestCore, type TestCoreOptions } from './client.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';

interface CutLine {
  readonly app: TestApp;
  readonly proxy: CutProxy;
  /** A core whose connections go through the proxy. */
  open(options?: TestCoreOptions): TestCore;
}

/** Starts a service for each test, and a connection to it that can be cut. */
export function cutLine(settings: Readonly<Record<string, string>> = {}): CutLine {
  const app = ownApp({ POSITIONS_POLL_MS: '100', ...settings });
  const proxy = startedForEach(() => startCutProxy(app.url));
  return {
    app,
    proxy,
    open: (options) => startCore(app, { url: `${proxy.url}/graphql`, ...options }),
  };
}
