import type { Browser } from 'playwright-core';
import { describeWithChromium } from './describe-with.ts';
import { launchChromium } from './launch-chromium.ts';
import { startedOnce } from './started.ts';

/** A suite with its own browser; skipped if the machine has none. */
export function describeInBrowser(name: string, suite: (browser: Browser) => void): void {
  describeWithChromium(name, (executablePath) =>
    suite(startedOnce(() => launchChromium(executablePath))),
  );
}
