import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/lib/log.ts';
import { launchChromium } from '../test/support/launch-chromium.ts';
import { chromiumPath } from '../test/support/machine.ts';

/** Opens the service with its sandbox, and a browser, for scripts that show its page. */
export async function openDemo() {
  if (chromiumPath === null) throw new Error('There is no Chromium: set CHROMIUM_PATH.');
  await using opened = new AsyncDisposableStack();
  const log = createLog({ level: 'error', destination: process.stdout });
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, { log });
  opened.defer(() => app.close());
  const browser = opened.use(await launchChromium(chromiumPath));
  // From here on the caller closes what was opened.
  const parts = opened.move();
  return { url: app.url, browser, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
