import { type Browser, chromium } from 'playwright-core';

/** The machine's own Chromium. Its sandbox does not work as root. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
