import { type Browser, chromium } from 'playwright-core';
import { describeWithChromium } from './describe-with.ts';
import { startedOnce } from './started.ts';

/** A suite with a browser of its own; skipped where the machine has none. */
export function describeInBrowser(name: string, suite: (browser: Browser) => void): void {
  describeWithChromium(name, (executablePath) =>
    suite(startedOnce(() => chromium.launch({ executablePath, args: ['--no-sandbox'] }))),
  );
}
