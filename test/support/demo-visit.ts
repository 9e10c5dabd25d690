import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { openPage, overflowsSideways, type PageOptions, violations } from './browser-page.ts';
import { eventually } from './eventually.ts';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export type VisitOptions = PageOptions;

/** Visits the page in a browser, and records everything that must not happen. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}) {
  const { page, problems, cancelled, ...opened } = await openPage(browser, url, {
    viewport: DESKTOP,
    reducedMotion: 'reduce',
    ...options,
  });
  /** Expects that no problem was recorded, and that nothing is wider than the window. */
  const expectSound = async () => {
    expect(problems).toEqual([]);
    expect(await overflowsSideways(page)).toBe(false);
  };
  return {
    ...opened,
    page,
    problems,
    cancelled,
    expectSound,
    async expectFlawless() {
      await expectSound();
      expect(await violations(page)).toEqual([]);
    },
    /** Waits until both phones have drawn everything. */
    waitUntilDrawn: () => page.locator('#screen-demo:not([aria-busy])').waitFor(),
    /** Waits until the text of an element matches. */
    waitForText: (id: string, pattern: RegExp) =>
      eventually(async () => expect(await page.locator(`#${id}`).textContent()).toMatch(pattern)),
    waitForRows: (count: number) =>
      eventually(async () => expect(await page.locator('#live-rows tr').count()).toBe(count)),
    click: (name: string) => page.getByRole('button', { name, exact: true }).click(),
    /** Waits until the live view has the status LIVE, opens all folded parts of the page, and waits until everything is drawn. */
    async unfoldWhenLive() {
      await page.locator('#live .live-status[data-status=LIVE]').waitFor();
      await page.evaluate(
        'for (const each of document.querySelectorAll("details")) each.open = true',
      );
      await page.locator('#screen-demo:not([aria-busy])').waitFor();
    },
  };
}
