import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { openPage, overflowsSideways, type PageOptions, violations } from './browser-page.ts';
import { eventually } from './eventually.ts';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export type VisitOptions = PageOptions;

/** How far things have moved by themselves, as the score of Web Vitals has it. */
export const NOTE_SHIFTS = `globalThis.moved = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moved += value;
}).observe({ type: 'layout-shift', buffered: true });`;

const STATES = { waiting: '.', here: '#', missing: 'x' };

/** Notes each 25 ms which parts the two phones show, and their caption, wherever these have changed. */
const SAMPLE = `globalThis.samples = [];
globalThis.look = () => {
  const parts = (phone) => [...document.querySelectorAll('#' + phone + '-phone [data-part]')]
    .map(({ dataset }) => (${JSON.stringify(STATES)})[dataset.state]).join('');
  const now = { rest: parts('rest'), graph: parts('graph'), caption: document.getElementById('screen-verdict')?.textContent };
  if (now.rest && JSON.stringify(now) !== JSON.stringify(samples.at(-1))) samples.push(now);
};
setInterval(look, 25);`;

/** What one saw at a moment: a character for each part of a phone, `#` where it is there, `.` while it is awaited, `x` where it does not come. */
export interface Sample {
  readonly rest: string;
  readonly graph: string;
  readonly caption: string;
}

/** A browser's visit of the page, which notes all that must not happen. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}) {
  const { page, problems, cancelled, ...opened } = await openPage(browser, url, {
    viewport: DESKTOP,
    reducedMotion: 'reduce',
    initScript: SAMPLE,
    ...options,
  });
  const isSound = async () => {
    expect(problems).toEqual([]);
    expect(await overflowsSideways(page)).toBe(false);
  };
  return {
    ...opened,
    page,
    problems,
    cancelled,
    isSound,
    /** Since `NOTE_SHIFTS` ran, nothing has moved that was not moved on purpose. */
    hasNotMoved: async () => expect(await page.evaluate('moved')).toBeLessThan(0.05),
    async isFlawless() {
      await isSound();
      expect(await violations(page)).toEqual([]);
    },
    /** Whatever was seen of the phones since the last time, the present last. */
    sampled: () =>
      page.evaluate<Sample[]>('look(), samples.splice(0, samples.length - 1).concat(samples)'),
    /** Waits until both phones have drawn all that comes. */
    isDrawn: () => page.locator('#screen-demo:not([aria-busy])').waitFor(),
    /** Waits until the text of an element matches. */
    reads: (id: string, pattern: RegExp) =>
      eventually(async () => expect(await page.locator(`#${id}`).textContent()).toMatch(pattern)),
    rowsAre: (count: number) =>
      eventually(async () => expect(await page.locator('#live-rows tr').count()).toBe(count)),
    click: (name: string) => page.getByRole('button', { name, exact: true }).click(),
    async isLive() {
      await page.locator('#live .live-status[data-status=LIVE]').waitFor();
      await page.evaluate(
        'for (const each of document.querySelectorAll("details")) each.open = true',
      );
      // The first measurement precedes what the other panels load.
      await page.locator('#screen-demo:not([aria-busy])').waitFor();
      await page.locator('#search-results li').first().waitFor();
    },
  };
}
