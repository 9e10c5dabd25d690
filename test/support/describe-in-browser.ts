import type { Browser } from 'playwright-core';
import { describeWithChromium } from './describe-with.ts';
import { launchChromium } from './launch-chromium.ts';
import { startedOnce } from './started.ts';

/** A suite with a browser of its own; skipped where the machine has none. */
export function describeInBrowser(name: string, suite: (browser: Browser) => void): void {
  describeWithChromium(name, (executablePath) =>
    suite(startedOnce(() => launchChromium(executablePath))),
  );
}
