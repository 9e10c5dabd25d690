import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import {
  type OpenedPage,
  openPage,
  overflowsSideways,
  violations,
} from '../../support/browser-page.ts';
import { describeWithChromium } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { freePorts } from '../../support/free-ports.ts';
import { inFull } from '../../support/in-full.ts';
import { DESKTOP, PHONE, visit } from './demo-visit.ts';

// Each size and each set of colours once: neither depends on the other.
const BOTH_LOOKS = [
  { size: PHONE, colorScheme: 'dark' },
  { size: DESKTOP, colorScheme: 'light' },
] as const;
const LOOKS = inFull<readonly (typeof BOTH_LOOKS)[number][]>(BOTH_LOOKS, BOTH_LOOKS.slice(0, 1));
const LOST = /ERR_(?:CONNECTION|EMPTY|SOCKET|INCOMPLETE)|WebSocket connection to/;

const textOf = (page: Page, selector: string) => page.locator(selector).innerText();
/** What the page says of how things stand, wherever it says it. */
const voicesOf = async (page: Page) => ({
  marks: [...new Set(await page.locator('.live-status').allTextContents())],
  bar: (await page.locator('#standing').isVisible()) ? await textOf(page, '#standing') : null,
  words: await textOf(page, '#live-status-words'),
  notice: await page.locator('#no-controls').isVisible(),
});
const reads = (page: Page, selector: string, pattern: RegExp) =>
  eventually(async () => pattern.test((await page.locator(selector).textContent()) ?? ''));

async function isFlawless({ page, problems }: OpenedPage): Promise<void> {
  expect(problems).toEqual([]);
  expect(await overflowsSideways(page)).toBe(false);
  expect(await violations(page)).toEqual([]);
}

describeWithChromium('the demonstration page', (executablePath) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  test('says in one voice that nobody is signed in, and that the server is gone, and comes back', async () => {
    const [PORT, ADMIN_PORT] = (await freePorts(2)).map(String);
    const settings = { PORT, ADMIN_PORT, LOGIN_LIMIT_PER_MINUTE: '1000' };
    let app = await startTestApp(settings);
    await using afterwards = new AsyncDisposableStack();
    afterwards.defer(() => app.close());
    app.sandbox.fail({ operation: 'login', kind: 'status', status: 503 });
    const opened = await Promise.all(
      LOOKS.map(({ size: { width, height }, colorScheme }) =>
        openPage(browser, app.url, {
          viewport: { width, height },
          colorScheme,
          reducedMotion: 'reduce',
          isExpected: (problem) => LOST.test(problem),
        }),
      ),
    );
    for (const each of opened) afterwards.use(each);
    const pages = opened.map(({ page }) => page);
    const [page] = pages as [Page];

    for (const each of opened) {
      await reads(each.page, '#standing', /^Nobody is signed in: .+ The page tries again/);
      const voices = await voicesOf(each.page);
      expect(voices).toMatchObject({ marks: ['OFFLINE'], words: 'nobody is signed in' });
      expect(await each.page.locator('#who').textContent()).toBe('signed out');
      await isFlawless(each);
    }

    app.sandbox.clearFaults();
    for (const each of opened) {
      await each.page.locator('#live .live-status[data-status=LIVE]').waitFor();
      await reads(each.page, '#screen-verdict', /the same 6 positions/);
      await each.page.locator('#search-results li').first().waitFor();
      expect(await voicesOf(each.page)).toEqual({
        marks: ['LIVE'],
        bar: null,
        words: 'the account follows the gateway',
        notice: false,
      });
      expect(await each.page.locator('#who').textContent()).toBe('demo@example.com');
      await isFlawless(each);
    }
    const wholeBytes = await textOf(page, '#sync-whole');

    await app.close();
    for (const each of opened) {
      await reads(each.page, '#standing', /^The server has not answered since \d/);
      expect(await voicesOf(each.page)).toMatchObject({
        marks: ['OFFLINE'],
        words: 'the server does not answer; the account is as it was',
        notice: false,
      });
      await reads(each.page, '#announcer', /^Account OFFLINE: the server does not answer/);
      expect(await each.page.locator('#live-rows tr').count()).toBe(6);
      expect(await each.page.locator('#fault-none').isVisible()).toBe(false);
      expect(await textOf(each.page, '#calls li:first-child .count')).toBe('–');
      await isFlawless(each);
    }
    // By the keyboard alone.
    for (const key of ['Tab', 'Enter', 'Tab', 'Enter']) await page.keyboard.press(key);
    await reads(page, '#screen-demo .tools + .problem', /^The server does not answer\.$/);
    expect(await textOf(page, '#screen-calls')).toBe('–');
    expect(await page.locator('#screen-demo .waterfall li').count()).toBe(0);
    for (const [name, selector] of [
      ['Sync', '#sync-run'],
      ['Cut the gateway for 5 s', '#live-cut'],
      ['Clear all', '#fault-clear'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).press('Enter');
      await reads(page, `.tools:has(${selector}) + .problem`, /^The server does not answer\.$/);
    }
    await page.getByRole('button', { name: 'Double tap', exact: true }).press('Enter');
    await reads(page, '#order-title', /^Not known yet$/);
    await page.getByRole('button', { name: 'Place the order', exact: true }).press('Enter');
    await reads(page, '#order-title', /^On its way$/);
    await isFlawless(opened[0] as OpenedPage);

    app = await startTestApp(settings);
    for (const each of opened) {
      await each.page.locator('#live .live-status[data-status=LIVE]').waitFor();
      await eventually(async () => (await voicesOf(each.page)).bar === null);
      expect((await voicesOf(each.page)).marks).toEqual(['LIVE']);
      expect(await each.page.locator('.problem').count()).toBe(0);
      await isFlawless(each);
    }
    await reads(page, '#screen-verdict', /the same \d positions/);
    await reads(page, '#order-title', /^Accepted$/);
    expect(app.sandbox.orders()).toHaveLength(1);
    expect(await textOf(page, '#sync-whole')).toBe(wholeBytes);
    await page.getByRole('button', { name: 'Measure again' }).press('Enter');
    await reads(page, '#screen-calls', /^1$/);
    // Each page is examined four times.
  }, 300_000);

  test('takes a server that does not answer in time, or a proxy without one, for gone; refused controls not', async () => {
    await using app = await startTestApp();
    await using visitor = await visit(browser, app.url, {
      size: DESKTOP,
      isExpected: (problem) => problem.includes('/sandbox/'),
    });
    const { page } = visitor;
    const answerControls = (status: number | null) =>
      page.route('**/sandbox/*', (route) => (status === null ? {} : route.fulfill({ status })));
    await answerControls(404);
    await page.locator('#no-controls').waitFor();
    expect(await voicesOf(page)).toMatchObject({ marks: ['LIVE'], bar: null });
    await visitor.click('Clear all');
    await reads(page, '#fault-form .problem', /controls do not answer to this browser/);
    await visitor.click('Measure again');
    await reads(page, '#screen-calls', /^1$/);
    await visitor.isFlawless();

    await answerControls(502);
    await reads(page, '#standing', /^The server has not answered/);
    expect(await voicesOf(page)).toMatchObject({ marks: ['OFFLINE'], notice: false });

    await page.unrouteAll();
    await page.locator('#live .live-status[data-status=LIVE]').waitFor();
    expect((await voicesOf(page)).bar).toBe(null);

    await answerControls(null);
    await reads(page, '#standing', /^The server has not answered/);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('shows the account live: positions, pending orders and balances over one subscription', async () => {
    await using app = await startTestApp({ SANDBOX_TICK_MS: '200', SESSION_MAX_AGE_SECONDS: '1' });
    await using visitor = await visit(browser, app.url, { size: DESKTOP });
    const { page } = visitor;
    await reads(page, '#live-balance', /^50,000\.00$/);
    const equity = await textOf(page, '#live-equity');
    await eventually(async () => (await textOf(page, '#live-equity')) !== equity);
    expect(await textOf(page, '#live-fetched-at')).toMatch(/^\d\d:\d\d:\d\d$/);
    await reads(page, '#pending-count', /^3 pending orders$/);
    await reads(page, '#live-log', /Subscribed: the whole account came, 9 rows/);
    await visitor.isSound();
  });
});
