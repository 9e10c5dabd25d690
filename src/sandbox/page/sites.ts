import type { Site } from '../../engine/index.ts';
import { DemoPage } from './demo-page.ts';
import { SandboxProxy, type SandboxProxyOptions } from './sandbox-proxy.ts';

interface SandboxSitesOptions extends SandboxProxyOptions {
  readonly withPage: boolean;
}

/** The controls of the sandbox, and the demonstration page, which the container image lacks. */
export function sandboxSites({ withPage, ...options }: SandboxSitesOptions) {
  const controls = new SandboxProxy(options);
  const page = withPage ? DemoPage.ifInstalled((request) => controls.isOpenTo(request)) : null;
  const sites: readonly Site[] = page === null ? [controls] : [page, controls];
  return { sites, hasPage: page !== null };
}
