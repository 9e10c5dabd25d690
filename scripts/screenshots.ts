// The pictures of the demonstration page for the README, in both colour schemes.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createLog } from '../lib/log.ts';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { chromiumPath } from '../test/support/machine.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'images');
const MOST_BYTES = 200_000;

if (chromiumPath === null) throw new Error('There is no Chromium: set CHROMIUM_PATH.');
mkdirSync(FOLDER, { recursive: true });
const log = createLog({ level: 'error', format: 'compact', destination: process.stdout });
const app = await startApp(readConfig({ PORT: '0', ADMIN_PORT: '0' }), { log });
const browser = await chromium.launch({
  executablePath: chromiumPath,
  // Chromium's own sandbox does not work as root, as in a container.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 880 }, colorScheme });
    await page.goto(app.url);
    await page.locator('#search-results li').first().waitFor();
    // The lanes have something to show.
    await page.locator('#lane-app .event').nth(15).waitFor({ state: 'attached' });
    // Measured anew, when nothing else of the page is being loaded.
    await page.locator('#screen-run').click();
    await page.locator('#screen-demo:not([aria-busy])').waitFor();
    await page.mouse.move(0, 0);
    const path = join(FOLDER, `page-${colorScheme}.png`);
    await page.screenshot({ path, animations: 'disabled' });
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MOST_BYTES}.`);
    console.log(`${path}: ${size} bytes`);
    await page.close();
  }
} finally {
  await browser.close();
  await app.close();
}
