import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

export interface PageOptions extends BrowserContextOptions {
  /** True for a problem that the test causes itself. */
  readonly isExpected?: (problem: string) => boolean;
  /** Runs in the page before its own scripts. */
  readonly initScript?: string;
}

/** Selectors of the parts that axe checks; by default the whole page. */
export type Part = Readonly<Partial<Record<'include' | 'exclude', readonly string[]>>>;

/** A page in a new browser context, closed at the end of its scope. */
export async function openPage(
  browser: Browser,
  url: string,
  { isExpected = () => false, initScript, ...options }: PageOptions = {},
) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  /** Errors and warnings in the console, uncaught errors, failed requests, and connections to another host. */
  const problems: string[] = [];
  /** The addresses of cancelled requests, since a page cancels its own subscriptions. */
  const cancelled: string[] = [];
  const note = (problem: string) => {
    if (!isExpected(problem)) problems.push(problem);
  };
  const { host } = new URL(url);
  const noteOutside = (target: string) => {
    const { protocol, host: targetHost } = new URL(target);
    const isOutside = /^(http|ws)/.test(protocol) && targetHost !== host;
    if (isOutside) note(`request to ${target}`);
  };
  page.on('request', (request) => noteOutside(request.url()));
  page.on('websocket', (socket) => noteOutside(socket.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      note(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => note(String(error.stack)));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason === 'net::ERR_ABORTED') cancelled.push(request.url());
    else note(`${request.url()}: ${reason}`);
  });
  if (initScript !== undefined) await page.addInitScript(initScript);
  await page.goto(url);
  return { page, problems, cancelled, [Symbol.asyncDispose]: () => context.close() };
}

/** Waits until GraphiQL accepts operations: its editors appear after its frame. */
export async function waitForGraphiQL(page: Page): Promise<void> {
  await page.locator('.graphiql-query-editor .CodeMirror-code').waitFor();
  await page.locator('.result-window .CodeMirror-code').waitFor({ state: 'attached' });
}

/** Presses and releases the mouse over the element, without scripts that move the element under the pointer. */
export async function clickAsAPerson(page: Page, selector: string): Promise<void> {
  const element = page.locator(selector);
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  if (box === null) throw new Error(`${selector} is not visible`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.mouse.down();
  // A person holds the button for longer than a frame, in which the page may move elements.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  await page.mouse.up();
}

/**
 * The violations of WCAG 2.1 A and AA and of axe's best practices. axe throws if an element is removed while axe runs, and
 * is then run again.
 */
export async function violations(
  page: Page,
  part: Part = {},
): Promise<{ rule: string; target: string }[]> {
  await page.evaluate(axeSource);
  return eventually(() =>
    page.evaluate(`axe.run(${JSON.stringify(part)}).then(({ violations }) => violations.flatMap(
      ({ id, nodes }) => nodes.map(({ target }) => ({ rule: id, target: target.join(' ') }))))`),
  );
}

/** Expects that nothing is wider than the window, and that axe finds nothing in either theme. */
export async function expectFlawless(page: Page, part: Part = {}): Promise<void> {
  expect(await overflowsSideways(page)).toBe(false);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page, part), colorScheme).toEqual([]);
  }
}

/** Whether something is wider than the window. */
export function overflowsSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > innerWidth');
}
