import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import run from '../../../page/recorded-run.json' with { type: 'json' };
import type { Fault } from '../../../sandbox/faults.ts';
import { startTestApp } from '../../support/app.ts';
import { violations } from '../../support/browser-page.ts';
import { type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const PHONES = ['rest', 'graph'] as const;
const WHOLE = /^5 of 5 parts after [\d,.]+ m?s(?:, equity \d+ s old)?$/;
const SMALLEST = { width: 320, height: 700 };
const BLANK = /^blank: session, positions, withdrawal-methods, customer-id failed: 502$/;
const OLD = '(?:, equity \\d+ s old)?';

describeInBrowser('the two phones', (browser) => {
  const app = sharedApp({ GATEWAY_TIMEOUT_MS: '1500', LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  const open = async (options: VisitOptions = {}, url = app.url) => {
    const visitor = await visit(browser, url, options);
    const { page } = visitor;
    const isDone = () => page.locator('#screen-demo:not([aria-busy])').waitFor();
    await visitor.isLive();
    return {
      ...visitor,
      isDone,
      async run() {
        await visitor.click('Run');
        await isDone();
      },
      /** Chooses a switch, by which the phones draw anew. */
      async choose(name: string) {
        await page.getByRole('radio', { name, exact: true }).check();
        await isDone();
      },
      preset: (name: string) => page.locator('#presets button', { hasText: name }).click(),
      part: (phone: (typeof PHONES)[number], name: string) =>
        page.locator(`#${phone}-phone [data-part="${name}"]`),
    };
  };
  const timeOf = async (page: Page, phone: string) =>
    Number(/after ([\d,]+) ms/.exec(await text(page, `${phone}-outcome`))?.[1]?.replace(',', ''));
  const text = async (page: Page, id: string) => (await page.locator(`#${id}`).textContent()) ?? '';
  const figures = (page: Page) =>
    page
      .locator('#screen-figures dd')
      .evaluateAll((all) => all.map((dd) => dd.textContent?.trim()));

  test('draw the same screen, and their figures are compared', async () => {
    await using visitor = await open();
    const { page, reads, part } = visitor;
    await reads('rest-outcome', WHOLE);
    await reads('graph-outcome', WHOLE);
    await reads('screen-verdict', /^Both phones show the same 6 positions, orders and instruments/);
    expect(await figures(page)).toEqual([
      '1 instead of 5',
      expect.stringMatching(/^\d+ B instead of [\d.]+ kB$/),
      expect.stringMatching(/^[\d,.]+ ms instead of [\d,.]+ ms$/),
    ]);
    for (const [name, words] of [
      ['Equity', /[\d,]+\.\d\d USD\s+Balance/],
      ['Positions', /^Positions 6\s+AAPL\s+Apple Inc\./],
      ['Orders', /^Orders 3\s+MSFT/],
      ['Watch list', /DE40\s+Germany 40 Index\s+1:20/],
      ['Payout', /cus_700001\s+Bank account\s+approved/],
    ] as const) {
      for (const phone of PHONES) expect(await part(phone, name).innerText()).toMatch(words);
    }
    expect(await page.locator('#rest-calls li').count()).toBe(5);
    expect(await page.locator('#graph-calls li').count()).toBe(1);
    app.sandbox.clearCalls();
    await visitor.run();
    expect(app.sandbox.calls('getCustomerId')).toBe(2);
    // The graph has the catalog in memory.
    expect(app.sandbox.calls('getAllTickers')).toBe(1);
    await visitor.isFlawless();
  });

  test('draw each part when it comes', async () => {
    await using visitor = await open();
    const { page, part } = visitor;
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_000 });
    await visitor.click('Run');
    await page.locator('#rest-phone [data-part="Positions"][data-state="here"]').waitFor();
    expect(await part('rest', 'Payout').getAttribute('data-state')).toBe('waiting');
    expect(await page.locator('#graph-phone [data-state="waiting"]').count()).toBe(5);
    expect(await text(page, 'screen-verdict')).toBe('');
    await visitor.isDone();
    expect(await page.locator('.phone [data-state="here"]').count()).toBe(10);
    await visitor.isSound();
  });

  test.each<[Omit<Fault, 'times'>, RegExp, RegExp, RegExp]>([
    [
      { operation: 'getSession', kind: 'status', status: 503 },
      /^2 of 5 parts; blank: equity, orders, watch list \(session failed: 503\)$/,
      WHOLE,
      /^No comparison: the screen over REST is not whole\.$/,
    ],
    [
      { operation: 'getAllTickers', kind: 'redirect' },
      new RegExp(`^4 of 5 parts${OLD}; blank: watch list \\(tickers failed: not as expected\\)$`),
      WHOLE,
      /^No comparison: the screen over REST is not whole\.$/,
    ],
    [
      { operation: 'getOpenPositions', kind: 'garbage' },
      /^4 of 5 parts; blank: positions \(positions failed: not JSON\)$/,
      new RegExp(`^4 of 5 parts${OLD}; blank: positions \\(GATEWAY_CONTRACT\\)$`),
      /^No comparison: the screen over REST and over the graph is not whole\.$/,
    ],
    [
      { operation: 'getCustomerId', kind: 'delay', delayMs: 2_500 },
      WHOLE,
      new RegExp(`^4 of 5 parts${OLD}; blank: payout \\(GATEWAY_TIMEOUT\\)$`),
      /^No comparison: the screen over the graph is not whole\.$/,
    ],
  ])('under %o say what came, by its parts', async (fault, rest, graph, verdict) => {
    await using visitor = await open({ isExpected: (problem) => problem.includes('503') });
    const { page, reads } = visitor;
    app.sandbox.fail(fault);
    // The graph may have a list of the live account that was read before.
    await eventually(async () => {
      await visitor.run();
      expect(await text(page, 'rest-outcome')).toMatch(rest);
      expect(await text(page, 'graph-outcome')).toMatch(graph);
    });
    await reads('screen-verdict', verdict);
    expect(await figures(page)).toEqual(['–', '–', '–']);
    expect(await violations(page)).toEqual([]);
    app.sandbox.clearFaults();
    await visitor.run();
    await reads('screen-bytes-before', /^instead of/);
    await visitor.isSound();
  });

  test('while the gateway is down are blank over REST; the graph has most, and says how old the equity is', async () => {
    await using visitor = await open({ isExpected: () => true, viewport: SMALLEST });
    const { page, reads, part } = visitor;
    await eventually(async () => {
      await visitor.run();
      expect(await text(page, 'graph-outcome')).toMatch(/equity \d+ s old$/);
    });
    await visitor.preset('Gateway down');
    await reads('rest-outcome', BLANK);
    // The live account's last list counts for as long as until the next.
    await eventually(async () => {
      await visitor.run();
      expect(await text(page, 'graph-outcome')).toMatch(
        /^3 of 5 parts, equity \d+ s old; blank: positions, payout \(GATEWAY_UNAVAILABLE\)$/,
      );
    });
    await reads('rest-outcome', BLANK);
    await reads('screen-verdict', /^No comparison: the screen over REST and over the graph is/);
    expect(await part('rest', 'Orders').innerText()).toMatch(/blank: session: 502/);
    expect(await part('graph', 'Orders').innerText()).toMatch(/MSFT/);
    expect(await figures(page)).toEqual(['–', '–', '–']);
    await reads('announcer', /^rest: blank: .* graph: 3 of 5 parts, .* No comparison: /);
    await visitor.isFlawless();
  });

  test('with a revoked token are blank over REST; the graph’s app gets another, and is whole', async () => {
    await using visitor = await open({ isExpected: () => true });
    const { reads } = visitor;
    await visitor.preset('My token is revoked');
    await reads('rest-outcome', /^blank: session, positions, .* failed: 401$/);
    await reads('graph-outcome', WHOLE);
    await reads('screen-verdict', /^No comparison: the screen over REST is not whole\.$/);
    await visitor.run();
    await reads('rest-outcome', WHOLE);
  });

  test('without a connection are blank; on a next visit the graph’s app has its catalog', async () => {
    await using visitor = await open({ isExpected: () => true });
    const { reads, part } = visitor;
    await visitor.preset('My connection drops');
    await reads('rest-outcome', /^blank: session, positions, .* failed: lost$/);
    await reads('graph-outcome', /^blank: the query failed: lost$/);
    await visitor.choose('Next');
    await reads('rest-outcome', /^blank: session, positions, .* failed: lost$/);
    await reads(
      'graph-outcome',
      /^1 of 5 parts; blank: equity, positions, orders, payout \(the query failed: lost\)$/,
    );
    expect(await part('graph', 'Watch list').innerText()).toMatch(/TSLA/);
  });

  test('on a next visit have what the first one left: the HTTP cache, and the stored catalog', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    const first = await figures(page);
    expect(first[0]).toBe('1 instead of 5');
    app.sandbox.clearCalls();
    await visitor.choose('Next');
    await reads('rest-outcome', WHOLE);
    expect(await figures(page)).toEqual([
      '1 instead of 4',
      expect.stringMatching(/^\d+ B instead of \d\.\d kB$/),
      expect.stringMatching(/instead of/),
    ]);
    expect(app.sandbox.calls('getAllTickers')).toBe(0);
    await reads('rest-calls', /tickers.*ms0 B/);
    expect(Number.parseInt(String((await figures(page))[1]), 10)).toBeLessThan(
      Number.parseInt(String(first[1]), 10),
    );
    await visitor.choose('First');
    expect(app.sandbox.calls('getAllTickers')).toBe(1);
    await visitor.isSound();
  });

  test('have as many instruments as are chosen, and say so after a reload', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    await visitor.choose('As it is');
    await visitor.choose('5,000');
    await reads('rest-outcome', WHOLE);
    await reads('screen-bytes-before', /^instead of 2\d\d\.\d kB$/);
    const { data } = await app.query('{ catalog { size } }', { token: await app.signIn() });
    expect(data.catalog.size).toBe(5_000);
    await page.reload();
    await page.locator('#screen-verdict:not(:empty)').waitFor();
    expect(await page.getByRole('radio', { name: '5,000' }).isChecked()).toBe(true);
    await visitor.isSound();
  });

  test('are as slow as a phone’s network, or as fast as this machine’s', async () => {
    await using visitor = await open();
    const { page } = visitor;
    await page.getByText('3G, simulated').waitFor();
    expect(await timeOf(page, 'graph')).toBeGreaterThan(150);
    expect(await timeOf(page, 'rest')).toBeGreaterThan(300);
    await visitor.choose('As it is');
    await eventually(async () => {
      await visitor.run();
      expect(await timeOf(page, 'graph')).toBeLessThan(150);
    });
  });

  test('say so where the account has changed between them', async () => {
    await using visitor = await open();
    await visitor.page.route('**/sandbox/gateway/trading/positions', (route) =>
      route.fulfill({ json: { positions: [] } }),
    );
    await visitor.run();
    await visitor.reads('screen-verdict', /^The two differ: something has changed/);
    await visitor.isSound();
  });

  test('mark what failed of the graph’s answer, and the calls that were repeated', async () => {
    // A service that has repeated few calls so far: there is a budget for it.
    await using own = await startTestApp();
    const expected = { isExpected: (problem: string) => problem.includes('503') };
    await using visitor = await open(expected, own.url);
    const { page, reads } = visitor;
    // The gateway's own way takes one, the graph's first attempt the other.
    const status = { kind: 'status', status: 503 } as const;
    own.sandbox.fail({ operation: 'getWithdrawalMethods', ...status });
    own.sandbox.fail({ operation: 'getCustomerId', ...status, times: 2 });
    await visitor.run();
    await reads('graph-calls', /in part$/);
    await page.locator('#graph-calls .bar.partial').waitFor();
    const receipts = await page.locator('#screen-receipts li').allInnerTexts();
    const ofCustomer = receipts.filter((each) => each.includes('getCustomerId'));
    expect(ofCustomer).toHaveLength(2);
    expect(ofCustomer.filter((each) => each.includes('failed (5xx)'))).toHaveLength(1);
    await visitor.isSound();
  });

  test('on another machine are one that is measured, the graph’s, beside one that says it was recorded', async () => {
    // The controls are closed to what a proxy forwards, as they are to other machines.
    await using visitor = await open({
      extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' },
      isExpected: (problem) => problem.includes('404'),
    });
    const { page, reads, part } = visitor;
    await page.locator('#no-controls').waitFor();
    await reads(
      'screen-verdict',
      /^The comparison is recorded; the phone over the graph is measured/,
    );
    await reads('rest-outcome', WHOLE);
    await reads('graph-outcome', WHOLE);
    const { rest, graph } = run.comparison;
    expect((await figures(page))[0]).toBe(`${graph.calls.length} instead of ${rest.calls.length}`);
    const calls = await page.locator('#rest-calls .call').allTextContents();
    expect(calls.sort()).toEqual(rest.calls.map(({ label }) => label).sort());
    expect(await part('rest', 'Positions').innerText()).toMatch(/^Positions 6\s+AAPL/);
    const day = new Date(run.recordedAt).toLocaleDateString('en-GB', { dateStyle: 'long' });
    const signs = await page.locator('#screen-demo .recorded').allTextContents();
    expect(signs).toEqual(Array(2).fill(`Recorded ${day}`));
    expect(await page.locator('#screen-switches input:visible').count()).toBe(0);
    // Of a fault, what is recorded has none.
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'garbage' });
    await visitor.run();
    await reads('graph-outcome', /^4 of 5 parts.*; blank: payout \(GATEWAY_CONTRACT\)$/);
    await reads('rest-outcome', WHOLE);
    await visitor.isFlawless();
  });

  test('appear at once where less motion is wanted', async () => {
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      await using visitor = await open({ reducedMotion });
      const motion = await visitor.page
        .locator('#graph-phone li')
        .first()
        .evaluate((row) => getComputedStyle(row).transitionProperty);
      expect(motion).toBe(reducedMotion === 'reduce' ? 'none' : 'opacity');
    }
  });
});
