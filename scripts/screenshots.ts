// Takes the pictures of the demonstration page for the README, in both colour schemes.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDemo } from './open-demo.ts';

const FOLDER = join(import.meta.dirname, '..', 'docs', 'images');
const MAX_BYTES = 200_000;

mkdirSync(FOLDER, { recursive: true });
await using demo = await openDemo();
for (const colorScheme of ['light', 'dark'] as const) {
  const page = await demo.browser.newPage({ viewport: { width: 1280, height: 880 }, colorScheme });
  await page.goto(demo.url);
  await page.locator('#live .live-status[data-status=LIVE]').waitFor();
  // Repeats the page's comparison of two screens: the first one ran while the page was loading, so its times are too long.
  await page.locator('#screen-run').click();
  await page.locator('#screen-demo:not([aria-busy])').waitFor();
  await page.mouse.move(0, 0);
  await page.evaluate('scrollTo(0, 0)');
  const path = join(FOLDER, `page-${colorScheme}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}.`);
  console.log(`${path}: ${size} bytes`);
  await page.close();
}
