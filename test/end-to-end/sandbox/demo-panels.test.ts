import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithChromium } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { DESKTOP, PHONE, visit } from './demo-visit.ts';

for (const size of [DESKTOP, PHONE]) {
  // Clicks through every panel of the page, as a person does.
  describeWithChromium(`the demonstration page on ${size.name}`, (executablePath) => {
    let browser: Browser;
    let app: TestApp;
    const numberIn = (text: string | null) =>
      Number(/[\d.,]+/.exec(text ?? '')?.[0].replaceAll(',', ''));

    beforeAll(async () => {
      browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
      app = await startTestApp({
        SANDBOX_TICK_MS: '200',
        ORDER_TIMEOUT_MS: '5000',
        LOGIN_LIMIT_PER_MINUTE: '1000',
      });
    });
    // By its own path, so that the service reads the catalog anew.
    beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
    afterEach(() => app.sandbox.clearFaults());
    afterAll(async () => {
      await browser.close();
      await app.close();
    });

    test.each(['light', 'dark'] as const)('is flawless in %s colours', async (colorScheme) => {
      await using visitor = await visit(browser, app.url, { size, colorScheme });
      const background = await visitor.page.evaluate(
        () => getComputedStyle(document.body).backgroundColor,
      );
      expect(background).toBe(colorScheme === 'light' ? 'rgb(247, 248, 250)' : 'rgb(11, 13, 18)');
      await visitor.isFlawless();
    });

    // The panels below behave alike in every window.
    if (size === PHONE && inFull(false, true)) return;

    test('shows each outcome of an order', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      for (const [symbol, outcome, advice] of [
        ['AAPL', 'Accepted', 'live list'],
        ['TEST.REJECT', 'Rejected', 'Nothing was traded'],
        ['TEST.UNKNOWN', 'Unknown', 'never trades twice'],
        ['TEST.SLOW', 'Unknown', 'never trades twice'],
      ] as const) {
        await page.getByRole('radio', { name: symbol }).check();
        const before = app.sandbox.calls('openPosition');
        const formerly = await page.locator('#order-details').textContent();
        await visitor.click('Place the order');
        await eventually(async () => {
          const details = (await page.locator('#order-details').textContent()) ?? '';
          return details !== formerly && details.includes('Answered after');
        });
        await reads('order-title', `^${outcome}`);
        await reads('order-advice', advice);
        await reads('announcer', `Order: ${outcome}`);
        expect(app.sandbox.calls('openPosition')).toBe(before + 1);
      }
      await visitor.isFlawless();
    });

    test('shows its operations as code, by the keyboard too', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page } = visitor;
      for (const id of ['screen', 'live', 'search', 'order', 'console']) {
        const box = page.locator(`#${id}-code`);
        const tabs = box.getByRole('tab');
        expect(await tabs.allTextContents()).toEqual([
          'Operation',
          'curl',
          'Client',
          'Apollo Client',
        ]);
        await tabs.first().focus();
        for (const words of ['curl ', 'trading-graph-client', '@apollo/client']) {
          await page.keyboard.press('ArrowRight');
          expect(await box.locator('pre').textContent()).toContain(words);
        }
        expect(await box.locator('pre').textContent()).toContain('Bearer eyJ');
        await page.keyboard.press('Home');
        expect(await tabs.first().getAttribute('aria-selected')).toBe('true');
      }
      await visitor.isSound();
    });

    test('measures one screen two ways, on a phone’s network and without one', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await reads('screen-verdict', 'the same 6 positions');
      expect(await page.locator('#screen-gateway-calls li').count()).toBe(5);
      expect(await page.locator('#screen-calls').innerText()).toBe('1');
      const msOf = async () => numberIn(await page.locator('#screen-time').textContent());
      const bytesOf = async (id: string) => {
        const text = (await page.locator(id).textContent()) ?? '';
        return numberIn(text) * (text.includes('kB') ? 1_000 : 1);
      };
      expect(await bytesOf('#screen-bytes-before')).toBeGreaterThan(
        20 * (await bytesOf('#screen-bytes')),
      );
      expect(await msOf()).toBeGreaterThanOrEqual(150);
      expect(numberIn(await page.locator('#screen-time-before').textContent())).toBeGreaterThan(
        300,
      );
      await page.getByRole('checkbox', { name: /Phone/ }).uncheck();
      const settled = page.locator('#screen-demo:not([aria-busy])');
      await eventually(async () => {
        await settled.waitFor();
        if ((await msOf()) < 150) return true;
        // A busy machine may take as long as a phone's network.
        await visitor.click('Measure again');
        return false;
      });
      app.sandbox.clearCalls();
      await visitor.click('Measure again');
      // The gateway is called five times by the browser itself.
      await eventually(() => app.sandbox.calls('getCustomerId') === 2);
      expect(app.sandbox.calls('getAllTickers')).toBe(1);
      await visitor.isSound();
    });

    test('searches with typos, and fetches changes alone', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await reads('search-results', 'Microsoft');
      await page.getByRole('searchbox').fill('aplle');
      await reads('search-results', 'AAPL');
      await reads('search-server', '^[1-9]\\d* match');
      await page.getByRole('searchbox').fill('qqqqzzzz');
      await page.getByText('No instrument is like that.').waitFor();
      await visitor.click('Sync');
      await reads('sync-outcome', 'Nothing has changed');
      const version = await page.locator('#sync-version').textContent();
      await visitor.click('Change 3 at the gateway, then sync');
      await reads('sync-outcome', '3 instruments had changed');
      expect(await page.locator('#sync-version').textContent()).not.toBe(version);
      expect(
        numberIn(/\((\d+) %/.exec(await page.locator('#sync-saved').innerText())?.[1] ?? ''),
      ).toBeGreaterThan(85);
      await visitor.isSound();
    });

    test('sets faults by operation, and counts calls', async () => {
      await using visitor = await visit(browser, app.url, {
        size,
        isExpected: (problem) => problem.includes('/sandbox/gateway/payments/'),
      });
      const { page, reads } = visitor;
      await page.getByRole('combobox', { name: 'Operation' }).selectOption('getWithdrawalMethods');
      for (const [kind, words] of [
        ['delay of 2 s', 'answers 2 s late'],
        ['garbage', 'answers no JSON'],
        ['connection reset', 'resets the connection'],
      ] as const) {
        await page.getByRole('combobox', { name: 'Fault' }).selectOption(kind);
        await visitor.click('Set the fault');
        await reads('fault-list', words);
        await visitor.click('Clear all');
        await page.getByText('The gateway is well.').waitFor();
      }
      await page.getByRole('combobox', { name: 'Fault' }).selectOption('status 503');
      await page.getByLabel('How often').selectOption('until cleared');
      await visitor.click('Set the fault');
      await reads('fault-list', 'getWithdrawalMethods answers 503, until cleared');
      await visitor.click('Measure again');
      await reads(
        'screen-verdict',
        'withdrawalMethods: GATEWAY_UNAVAILABLE. The rest of the screen',
      );
      expect(await page.locator('#screen-gateway-calls .failed').count()).toBe(1);
      await visitor.click('Clear all');
      await visitor.click('Count from 0');
      await eventually(async () => {
        const shown = await page.locator('[data-operation=getOpenPositions] .count').textContent();
        return Number(shown) > 0 && Number(shown) < 20;
      });
      await visitor.isSound();
    });

    test('follows positions, over a cut gateway and a killed socket', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      expect(await page.locator('#live-rows tr').count()).toBe(6);
      const firstTotal = await page.locator('#live-total').textContent();
      await eventually(
        async () => (await page.locator('#live-total').textContent()) !== firstTotal,
      );
      await eventually(
        async () =>
          ((await page.locator('.sparkline polyline').first().getAttribute('points')) ?? '').split(
            ' ',
          ).length > 2,
      );

      await visitor.click('Kill the socket');
      await reads('live-log', 'Resumed after .* changes alone');
      await reads('announcer', 'LIVE|goes on where it stopped');

      const pill = page.locator('#live .live-status');
      await visitor.click('Cut the gateway for 5 s');
      await eventually(async () => (await pill.textContent()) === 'DELAYED');
      await reads('announcer', 'DELAYED');
      await eventually(async () => (await pill.textContent()) === 'LIVE');
      await visitor.isSound();
    });

    test('polls the gateway once for eleven watchers', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page } = visitor;
      await visitor.click('Open ten watchers');
      const totals = page.locator('#live-watchers b');
      expect(await totals.count()).toBe(10);
      await eventually(async () =>
        (await totals.allTextContents()).every((text) => /^[+−]/.test(text)),
      );
      expect(await page.locator('#live-sockets').textContent()).toBe('11');
      const before = { polls: app.sandbox.calls('getOpenPositions'), atMs: performance.now() };
      await eventually(() => app.sandbox.calls('getOpenPositions') >= before.polls + 3);
      expect(performance.now() - before.atMs).toBeGreaterThan(2_000);
      await eventually(async () => {
        const rate = numberIn(await page.locator('#live-polls').textContent());
        return rate > 0 && rate < 1.5;
      });
      await visitor.isFlawless();
      await visitor.click('Close the watchers');
      expect(await totals.count()).toBe(0);
    });

    test('sends an order once, for a double tap and for an app that was killed', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await visitor.click('Double tap');
      await reads('order-title', 'Two taps, one order');
      await reads('order-details', 'replayed');
      expect(app.sandbox.orders()).toHaveLength(1);

      await visitor.click('Place, then kill the app');
      await page.waitForEvent('load');
      await reads('order-title', 'After the restart: (?:accepted|unknown)');
      await eventually(() => app.sandbox.orders().length === 2);
      expect(app.sandbox.calls('openPosition')).toBe(2);
      await eventually(async () => (await page.locator('#live-rows tr').count()) === 8);
      await visitor.isSound();
    });

    test('shows pending orders become positions', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await reads('pending-count', '3 pending orders');
      await visitor.click('Add one just below the market');
      await reads('pending-news', 'an order waits for');
      const [order] = app.sandbox.orders();
      expect(order).toMatchObject({ operation: 'placeLimitOrder', symbol: 'AAPL' });
      await page.getByRole('button', { name: /^Trigger MSFT/ }).click();
      await reads('pending-news', 'MSFT: the order has become a position.');
      await page.locator('#live-rows tr', { hasText: 'MSFT' }).waitFor();
      await visitor.isSound();
    });

    test('shows pending orders where the gateway tells of them more slowly than of positions', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await reads('pending-count', '3 pending orders');
      app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 3_000, times: 1 });
      await page.getByRole('button', { name: /^Trigger MSFT/ }).click();
      await page.locator('#live-rows tr', { hasText: 'MSFT' }).waitFor();
      await reads('pending-news', 'MSFT: the order has become a position.');
      await reads('pending-count', '2 pending orders');
      await visitor.isSound();
    });

    test('switches the user in all panels', async () => {
      await using visitor = await visit(browser, app.url, { size });
      const { page, reads } = visitor;
      await page.getByRole('radio', { name: /^pro/ }).check();
      await eventually(async () => (await page.locator('#live-rows tr').count()) === 25);
      await reads('screen-verdict', 'the same 25 positions');
      await reads('pending-count', '8 pending orders');
      await reads('sync-size', '456 instruments');
      await visitor.isSound();
      await page.getByRole('radio', { name: /^fresh/ }).check();
      await page.getByText('No position is open.').waitFor();
      await reads('pending-count', '0 pending orders');
      await visitor.click('Add one just below the market');
      await reads('pending-news', 'Place an order first');
      await visitor.click('Place the order');
      await reads('order-title', 'Accepted');
      await eventually(async () => (await page.locator('#live-rows tr').count()) === 1);
      await visitor.isSound();
    });
  });
}
