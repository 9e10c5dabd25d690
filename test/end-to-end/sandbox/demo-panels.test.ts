import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { DESKTOP, NOTE_SHIFTS, PHONE, type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { freePorts } from '../../support/free-ports.ts';
import { inFull } from '../../support/in-full.ts';
import { runSnippet } from '../../support/run-snippet.ts';
import { sharedApp } from '../../support/shared-app.ts';

const LOST = /ERR_(?:CONNECTION|EMPTY|SOCKET|INCOMPLETE)|WebSocket connection to/;

/** All that an element says from now on. */
const textsOf = (page: Page, id: string) =>
  page.evaluateHandle((of) => {
    const heard: (string | null)[] = [];
    const element = document.getElementById(of);
    const observer = new MutationObserver(() => heard.push(element?.textContent ?? null));
    observer.observe(element ?? document, { childList: true, characterData: true, subtree: true });
    return heard;
  }, id);

describeInBrowser('the demonstration page', (browser) => {
  const app = sharedApp({
    SANDBOX_TICK_MS: '200',
    ORDER_TIMEOUT_MS: '5000',
    LOGIN_LIMIT_PER_MINUTE: '1000',
  });
  // By its own path, so that the service reads the catalog anew.
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  const open = async (options: VisitOptions = {}) => {
    const visitor = await visit(browser, app.url, options);
    await visitor.isLive();
    return visitor;
  };

  test('shows each outcome of an order', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    for (const [symbol, outcome, advice] of [
      ['AAPL', /^Accepted/, /live list/],
      ['TEST.REJECT', /^Rejected/, /Nothing was traded/],
      ['TEST.UNKNOWN', /^Unknown/, /never trades twice/],
      ['TEST.SLOW', /^Unknown/, /never trades twice/],
    ] as const) {
      await page.getByRole('radio', { name: symbol }).check();
      const before = app.sandbox.calls('openPosition');
      const formerly = await page.locator('#order-details').textContent();
      await visitor.click('Place the order');
      await eventually(async () => {
        const details = (await page.locator('#order-details').textContent()) ?? '';
        return details !== formerly && details.includes('Answered after');
      });
      await reads('order-title', outcome);
      await reads('order-advice', advice);
      expect(app.sandbox.calls('openPosition')).toBe(before + 1);
      const isOpen = await page.getByRole('button', { name: 'Ask again' }).isVisible();
      expect(isOpen).toBe(outcome.test('Unknown'));
      if (symbol === 'TEST.REJECT') {
        await reads('order-details', /The gateway says.*This instrument refuses every order\./);
      }
    }
    await visitor.isFlawless();
  });

  test('counts the orders of its own account, whatever another visitor places meanwhile', async () => {
    await using visitor = await open();
    await using other = await visit(browser, `${app.url}/?user=pro@example.com`);
    await other.isLive();
    await visitor.page.getByRole('radio', { name: 'TEST.SLOW' }).check();
    const before = app.sandbox.calls('openPosition');
    await visitor.click('Double tap');
    await eventually(() => expect(app.sandbox.calls('openPosition')).toBe(before + 1));
    await other.click('Place the order');
    await other.reads('order-title', /^Accepted/);
    await visitor.reads('order-title', /^Two taps, one order$/);
  });

  test('asks again what became of an order, sends none, and hears of a position that came later', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    const titles = await textsOf(page, 'order-title');
    const LATE_MS = 9_000;
    app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: LATE_MS, times: 1 });
    await visitor.click('Place the order');
    await reads('order-title', /^Unknown$/);
    await visitor.click('Ask again');
    await reads('order-title', /^Unknown$/);
    // The answer comes after the deadline, and the position with it.
    await reads('order-title', /^Accepted$/);
    expect(await page.getByRole('button', { name: 'Ask again' }).isVisible()).toBe(false);
    expect(app.sandbox.calls('openPosition')).toBe(1);
    const heard = await titles.jsonValue();
    expect(heard).toContain('No answer yet: closing its key, so that it is not sent again');
    expect(heard.join()).not.toMatch(/too late/i);
    await visitor.isSound();
  });

  test.each(inFull([DESKTOP, { width: 820, height: 1180 }, PHONE], [PHONE]))(
    'at $width×$height kills the app and not the page, and shows what became of its order where one looks',
    async (viewport) => {
      await using visitor = await open({ viewport });
      const { page, reads } = visitor;
      await page.evaluate(NOTE_SHIFTS);
      const isInWindow = async () => {
        const { y = -1, height = 0 } = (await page.locator('#order-outcome').boundingBox()) ?? {};
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y + height).toBeLessThanOrEqual(viewport.height);
      };
      await visitor.click('Place, then kill the app');
      await reads('order-title', /^The app is dead$/);
      await isInWindow();
      await reads('order-title', /^The app is back$/);
      await reads('order-title', /^After the restart: accepted$/);
      await eventually(isInWindow);
      // The same page, in which nothing else has moved.
      await visitor.hasNotMoved();
      expect(app.sandbox.calls('openPosition')).toBe(1);
      expect(app.sandbox.orders()).toHaveLength(1);
      await visitor.rowsAre(7);
      await visitor.isFlawless();
      // Nothing of an order that never reaches the gateway waits for the next one.
      await page.locator('[name=units]').fill('0');
      await visitor.click('Place, then kill the app');
      await reads('order-title', /^(?:Rejected|Not placed)$/);
      await eventually(() => expect(app.sandbox.faults()).toEqual([]));
    },
  );

  test('searches in the browser alone, and fetches changes alone', async () => {
    // A catalog that is too large for one answer is refused, and fetched in parts.
    await using visitor = await open({ isExpected: (problem) => problem.includes('400 (Bad') });
    const { page, reads } = visitor;
    await page.getByRole('searchbox').fill('aplle');
    await reads('search-results', /AAPL/);
    await reads('search-local', /^[\d.]+ ms, no request$/);
    await visitor.click('Sync');
    await reads('sync-outcome', /Nothing has changed/);
    await visitor.click('Change 3 at the gateway, then sync');
    await reads('sync-outcome', /3 instruments had changed/);
    await reads('sync-saved', /^[\d.]+ kB saved \(\d\d %\)$/);
    // A sync is compared with the present catalog.
    const whole = () => page.locator('#sync-whole').textContent();
    const former = await whole();
    await page.getByRole('radio', { name: '20,000' }).check();
    await visitor.isDrawn();
    await visitor.click('Sync');
    await eventually(async () => expect([former, '–']).not.toContain(await whole()));
    await reads('sync-saved', /^[\d.]+ kB saved \(\d+ %\)$|^All of it is new\.$/);
    await visitor.isSound();
  });

  test('shows a fault, and mends it', async () => {
    await using visitor = await open({ isExpected: () => true });
    const { page, reads } = visitor;
    app.sandbox.fail({ operation: 'getWithdrawalMethods', kind: 'status', status: 503 });
    await page.locator('#faults').scrollIntoViewIfNeeded();
    await reads('fault-list', /getWithdrawalMethods: status, until cleared/);
    await visitor.click('Open both again');
    await reads('graph-phone', /blank: gateway unavailable/);
    await visitor.click('Clear all');
    await page.getByText('The gateway is well.').waitFor();
  });

  test('drops the line of both apps while an order is on its way: two positions over REST, one over the graph, at the gateway', async () => {
    await using visitor = await open({ forcedColors: 'active' });
    const { page, reads } = visitor;
    const before = app.sandbox.calls('openPosition');
    await visitor.click('Place it in both apps');
    await reads(
      'lost-verdict',
      /^REST’s repeat makes 2 positions of one order; the graph’s makes 1: /,
    );
    expect(await page.locator('#lost-rows tr').allInnerTexts()).toEqual([
      'Sent by the app\t2 ×\t2 ×',
      'The app is told\taccepted\taccepted, replayed',
      'Orders at the gateway\t2\t1',
      'New positions\t2\t1',
    ]);
    expect(app.sandbox.calls('openPosition') - before).toBe(3);
    await visitor.rowsAre(9);
    await visitor.isFlawless();
  });

  test('follows the account, over a killed socket and a cut gateway, in ten more watchers by the same polls', async () => {
    // A watcher may be closed while its socket is still being opened.
    await using visitor = await open({
      isExpected: (problem) => problem.includes('is closed before'),
    });
    const { page, reads } = visitor;
    await visitor.click('Open ten watchers');
    await reads('live-sockets', /^11$/);
    await eventually(() => app.sandbox.calls('getOpenPositions') > 3);
    await visitor.click('Close the watchers');
    await reads('live-sockets', /^1$/);
    await visitor.rowsAre(6);
    await reads('pending-count', /^3 pending orders$/);
    // The gateway tells these prices more seldom than those of positions.
    await reads('pending-rows', /MSFTBUY stop at [\d.]+[\d.]+ as of \d\d:\d\d:\d\d/);
    await page.getByRole('button', { name: /^Trigger MSFT/ }).click();
    await reads('pending-news', /MSFT: the order has become a position./);
    await page.locator('#live-rows tr', { hasText: 'MSFT' }).waitFor();

    await visitor.click('Kill the socket');
    await reads('live-log', /Resumed after .* changes alone/);
    const pill = page.locator('#live .live-status');
    await visitor.click('Cut the gateway for 5 s');
    await eventually(async () => expect(await pill.textContent()).toBe('DELAYED'));
    await reads('announcer', /DELAYED/);
    await eventually(async () => expect(await pill.textContent()).toBe('LIVE'));
    await visitor.isSound();
  });

  test('switches the user in all panels, and shows the next one nothing of the former’s, whatever comes late or not at all', async () => {
    await using visitor = await open({ isExpected: (problem) => LOST.test(problem) });
    const { page, reads } = visitor;
    app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 4_000, times: 1 });
    await visitor.click('Place the order');
    await reads('order-title', /^On its way$/);
    await page.getByRole('radio', { name: /^pro/ }).check();
    await reads('order-title', /^No order yet$/);
    await visitor.rowsAre(25);
    await reads('screen-verdict', /the same 25 positions/);
    await reads('pending-count', /8 pending orders/);
    await reads('sync-size', /456 instruments/);
    await eventually(() => expect(app.sandbox.orders()).toHaveLength(1));
    // The former’s answer has come by the time that the next order of this page is accepted.
    await visitor.click('Double tap');
    await reads('order-title', /Two taps, one order/);
    await reads('order-details', /replayed/);
    expect(app.sandbox.orders()).toHaveLength(2);
    await page.getByRole('radio', { name: /^demo/ }).check();
    await reads('order-title', /^Accepted$/);

    // An order of an earlier run is asked for when its user comes back, not when the page is loaded.
    await page.getByRole('radio', { name: 'TEST.UNKNOWN' }).check();
    await visitor.click('Place the order');
    await reads('order-title', /^Unknown$/);
    await page.getByRole('radio', { name: /^pro/ }).check();
    await page.reload();
    await visitor.isLive();
    await reads('order-title', /^No order yet$/);
    await page.getByRole('radio', { name: /^demo/ }).check();
    await reads('order-title', /^After the restart: unknown$/);

    // Nobody can be signed in while the server is away.
    await page.route('**/graphql*', (route) => route.abort('connectionrefused'));
    const announced = await textsOf(page, 'announcer');
    await page.getByRole('radio', { name: /^fresh/ }).check();
    await visitor.rowsAre(0);
    await reads('order-title', /^Not known yet$/);
    expect((await announced.jsonValue()).join()).not.toContain('Signed in');
    for (const id of ['live-equity', 'live-total', 'live-count']) await reads(id, /^–$/);
    await reads('graph-phone', /^(?:(?!00001).)*$/);
    await reads('pending-count', /^$/);
    await page.unroute('**/graphql*');
    await reads('graph-phone', /cus_700003/);
    await reads('order-title', /^No order yet$/);
    await visitor.isSound();
  });

  test('shows code that runs as it is pasted, for each panel and each client', async () => {
    await using visitor = await open();
    const { page } = visitor;
    for (const [panel, answer, ofClient = answer] of [
      ['screen', 'equity'],
      ['live', 'LIVE'],
      ['search', 'totalCount', 'MSFT'],
      ['order', 'OrderAccepted', 'accepted'],
    ] as const) {
      const box = page.locator(`#${panel}-code`);
      for (const title of ['curl', 'Client', 'Apollo Client']) {
        await box.getByRole('radio', { name: title, exact: true }).check();
        const code = await box.locator('pre').innerText();
        const awaited = title === 'Client' ? ofClient : answer;
        expect(await runSnippet(title, code, awaited), `${panel}, ${title}`).toContain(awaited);
      }
    }
    // Another form is another order.
    const box = page.locator('#order-code');
    await page.locator('[name=side]').selectOption('SELL');
    await box.getByRole('radio', { name: 'curl', exact: true }).check();
    const code = await box.locator('pre').innerText();
    expect(await runSnippet('curl', code, 'OrderAccepted')).toContain('OrderAccepted');
    // What was copied is somebody's: the next copy is another order.
    await box.getByRole('button', { name: 'Copy' }).click();
    await eventually(async () => expect(await box.locator('pre').innerText()).not.toBe(code));
    await visitor.isSound();
  });

  test.each(inFull([320, 360, 640, 820], [320, 820]))(
    'at %i px has a way to each panel and to the account, and cuts no figure',
    async (width) => {
      await using visitor = await open({ viewport: { width, height: 800 } });
      const { page } = visitor;
      await visitor.rowsAre(6);
      const links = page.getByRole('navigation', { name: 'Panels' }).getByRole('link');
      expect(await links.allInnerTexts()).toEqual([
        'Screen',
        'Lost line',
        'Outage',
        'Live',
        'Order',
      ]);
      for (const link of [
        ...(await links.all()),
        page.getByRole('link', { name: /^Account: demo/ }),
      ]) {
        const box = await link.boundingBox();
        expect(box?.x).toBeGreaterThanOrEqual(0);
        expect((box?.x ?? width) + (box?.width ?? width)).toBeLessThanOrEqual(width);
      }
      await links.getByText('Order').click();
      // What is jumped to stands below the header.
      await eventually(async () => {
        const [header, title] = await Promise.all(
          ['header.top', '#order'].map((each) => page.locator(each).boundingBox()),
        );
        expect(title?.y).toBeGreaterThan((header?.y ?? 0) + (header?.height ?? 0));
        expect(title?.y).toBeLessThan(400);
      });
      const list = page.locator('#live .scroll');
      expect(await list.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
      const figures = page.locator('#presets button, .phone b, .call');
      const cut = (all: Element[]) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent);
      expect(await figures.evaluateAll(cut)).toEqual([]);
      await visitor.isFlawless();
    },
  );

  test('says so where a browser allows no storage', async () => {
    const initScript = `Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('No storage.'); } });`;
    const isExpected = (problem: string) => problem.includes('No storage');
    await using visitor = await visit(browser, app.url, { initScript, isExpected });
    await visitor.reads('standing', /^This page cannot start: No storage\.$/);
    await visitor.isFlawless();
  });

  test('is reached by the keyboard, and links to GraphiQL with the operation that is shown', async () => {
    await using visitor = await open();
    const { page } = visitor;
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('To the panels');
    await page.keyboard.press('Enter');
    const isSwitch = () => page.evaluate(() => document.activeElement?.matches('[name=visit]'));
    for (let steps = 0; steps < 40 && !(await isSwitch()); steps += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('radio', { name: 'Next' }).isChecked()).toBe(true);
    const opening = page.context().waitForEvent('page');
    await page.locator('#search-code').getByRole('link', { name: 'Open in GraphiQL' }).click();
    const graphiql = await opening;
    await graphiql.getByRole('button', { name: /execute query/i }).click();
    await graphiql.locator('.result-window').getByText('MSFT').first().waitFor();
  });

  test('says of a device that is offline, and of a server that is silent, what it is', async () => {
    await using visitor = await open({ isExpected: () => true });
    const { page, reads } = visitor;
    const since = 'What is shown is of \\d\\d:\\d\\d:\\d\\d';
    await page.context().setOffline(true);
    await reads('standing', new RegExp(`^This device is offline\\. ${since}`));
    await visitor.click('Open both again');
    await page.locator('.problem', { hasText: /^This device is offline\.$/ }).waitFor();
    await page.context().setOffline(false);
    await eventually(async () => !(await page.locator('#standing').isVisible()));
    await page.route('**/sandbox/calls*', () => {});
    await reads('standing', new RegExp(`has not answered within 5 s\\. ${since}`));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await eventually(async () => !(await page.locator('#standing').isVisible()));

    // A hidden page asks for nothing: an hour later its last answer is as old.
    const turn = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await turn('hidden');
    await page.context().setOffline(true);
    const later = Date.now() + 3_600_000;
    await page.clock.setFixedTime(later);
    await turn('visible');
    await reads('standing', /^This device is offline\./);
    const hour = new Date(later).toLocaleTimeString('en', { hour: '2-digit', hour12: false });
    expect(await page.locator('#standing').textContent()).not.toContain(` of ${hour}:`);
  });

  test('says in one voice that nobody is signed in, and that the server is gone, and comes back', async () => {
    const [PORT, ADMIN_PORT] = (await freePorts(2)).map(String);
    const settings = { PORT, ADMIN_PORT, LOGIN_LIMIT_PER_MINUTE: '1000' };
    let own = await startTestApp(settings);
    await using afterwards = new AsyncDisposableStack();
    afterwards.defer(() => own.close());
    own.sandbox.fail({ operation: 'login', kind: 'status', status: 503 });
    const visitor = afterwards.use(
      await visit(browser, own.url, {
        viewport: PHONE,
        colorScheme: 'dark',
        isExpected: (problem) => LOST.test(problem),
      }),
    );
    const { page, reads } = visitor;
    const marks = async () => [...new Set(await page.locator('.live-status').allTextContents())];
    await reads('standing', /^Nobody is signed in: .+ The page tries again/);
    await reads('screen-verdict', /^Neither app can open its screen\.$/);
    expect(await marks()).toEqual(['OFFLINE']);
    await visitor.isFlawless();

    own.sandbox.clearFaults();
    await visitor.isLive();
    expect(await marks()).toEqual(['LIVE']);

    await own.close();
    await reads('standing', /^The server cannot be reached\. What is shown is of \d\d:\d\d:\d\d/);
    expect(await marks()).toEqual(['OFFLINE']);
    await visitor.rowsAre(6);
    await page.getByRole('button', { name: 'Double tap', exact: true }).press('Enter');
    await reads('order-title', /^Not known yet$/);
    await visitor.isFlawless();
    // As late as can be: an order is given up after a while.
    await page.getByRole('button', { name: 'Place the order', exact: true }).press('Enter');
    await reads('order-title', /^On its way$/);

    own = await startTestApp(settings);
    await reads('order-title', /^Accepted$/);
    expect(own.sandbox.orders()).toHaveLength(1);
    await visitor.isLive();
    await eventually(async () => !(await page.locator('#standing').isVisible()));
    expect(await marks()).toEqual(['LIVE']);
    await visitor.isFlawless();
  }, 300_000);
});
