import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';

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
  { size, colorScheme = 'light', isExpected = () => false }: VisitOptions,
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: size.width, height: size.height },
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const { host } = new URL(url);
  const note = (problem: string) => {
    if (!isExpected(problem)) problems.push(problem);
  };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      note(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => note(String(error.stack)));
  page.on('request', (request) => {
    const target = new URL(request.url());
    if (target.protocol !== 'data:' && target.host !== host) note(`outside: ${request.url()}`);
  });
  page.on('websocket', (socket) => {
    if (new URL(socket.url()).host !== host) note(`outside: ${socket.url()}`);
  });
  await page.goto(url);
  await page.locator('#live .live-status[data-status=LIVE]').waitFor();
  // The first measurement precedes what the other panels load.
  await page.locator('#screen-graph-calls li').waitFor();
  await page.locator('#search-results li').first().waitFor();
  const isSound = async () => {
    expect(problems).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
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
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        // biome-ignore lint/suspicious/noExplicitAny: the page itself does not know axe
        const results = await (globalThis as any).axe.run();
        return results.violations.map(
          // biome-ignore lint/suspicious/noExplicitAny: as above
          ({ id, nodes }: any) => `${id}: ${nodes.map((node: any) => node.html).join(' ')}`,
        );
      });
      expect(violations).toEqual([]);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
