import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openPage, overflowsSideways, violations } from '../../support/browser-page.ts';

export interface Size {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

export const DESKTOP: Size = { name: 'a desktop', width: 1280, height: 800 };
export const PHONE: Size = { name: 'a phone', width: 390, height: 844 };

export interface VisitOptions {
  readonly size: Size;
  readonly colorScheme?: 'light' | 'dark';
  /** Requests that a fault lets fail, which the browser reports as errors. */
  readonly isExpected?: (problem: string) => boolean;
}

/** A browser's visit of the page, which notes all that must not happen. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Waits until the text of an element matches. */
  reads(id: string, pattern: string): Promise<void>;
  click(name: string | RegExp): Promise<void>;
  /** Nothing failed, nothing came from elsewhere, everything fits. */
  isSound(): Promise<void>;
  /** It is sound, and accessible as far as axe can tell. */
  isFlawless(): Promise<void>;
}

export async function visit(
  browser: Browser,
  url: string,
  { size: { width, height }, colorScheme = 'light', isExpected }: VisitOptions,
): Promise<Visit> {
  const opened = await openPage(browser, url, {
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    ...(isExpected && { isExpected }),
  });
  const { page, problems } = opened;
  await page.locator('#live .live-status[data-status=LIVE]').waitFor();
  // The first measurement precedes what the other panels load.
  await page.locator('#screen-graph-calls li').waitFor();
  await page.locator('#search-results li').first().waitFor();
  const isSound = async () => {
    expect(problems).toEqual([]);
    expect(await overflowsSideways(page)).toBe(false);
  };
  return {
    page,
    async reads(id, pattern) {
      await page.waitForFunction(
        ([name, text]) =>
          new RegExp(text as string).test(
            document.getElementById(name as string)?.textContent ?? '',
          ),
        [id, pattern],
      );
    },
    click: (name) => page.getByRole('button', { name, exact: true }).click(),
    isSound,
    async isFlawless() {
      await isSound();
      expect(await violations(page)).toEqual([]);
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
