import { DemoPage } from './page/demo-page.ts';
import { SandboxProxy, type SandboxProxyOptions } from './page/sandbox-proxy.ts';
import type { Sandbox, SandboxOptions } from './start.ts';

/** The sandbox as a part of the service's own process, for the entry of the process to hand in. */
export const embeddedSandbox = {
  /** Its files are loaded only here. */
  async start(options: SandboxOptions): Promise<Sandbox> {
    return (await import('./start.ts')).startSandbox(options);
  },
  hasPage: () => DemoPage.find() !== null,
  /** The controls, and the page that has them where its visitor may use them. */
  sites({ withPage, ...options }: SandboxProxyOptions & { readonly withPage: boolean }) {
    const controls = new SandboxProxy(options);
    const page = withPage ? DemoPage.find((request) => controls.isOpenTo(request)) : null;
    return page === null ? [controls] : [page, controls];
  },
};
