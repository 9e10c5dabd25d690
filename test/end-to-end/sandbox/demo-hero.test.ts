import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import run from '../../../page/recorded-run.json' with { type: 'json' };
import type { Fault } from '../../../sandbox/faults.ts';
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

  const open = async (options: VisitOptions = {}) => {
    const visitor = await visit(browser, app.url, options);
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

  test('draw the same screen part by part, and are compared unless the account has changed between them', async () => {
    await using visitor = await open();
    const { page, reads, part } = visitor;
    await reads('rest-outcome', WHOLE);
    await reads('graph-outcome', WHOLE);
    await reads('screen-verdict', /^Both phones show the same 6 positions, orders and instruments/);
    expect(await figures(page)).toEqual([
      '1 instead of 5',
      expect.stringMatching(/^[\d.]+ k?B instead of [\d.]+ kB$/),
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
    // As slow as a phone's network.
    await page.getByText('3G, simulated').waitFor();
    expect(await timeOf(page, 'graph')).toBeGreaterThan(150);

    app.sandbox.clearCalls();
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_000 });
    await visitor.click('Run');
    await page.locator('#rest-phone [data-part="Positions"][data-state="here"]').waitFor();
    expect(await part('rest', 'Payout').getAttribute('data-state')).toBe('waiting');
    // Over the graph the rest comes as a part of its own.
    await page.locator('#graph-phone [data-part="Positions"][data-state="here"]').waitFor();
    expect(await part('graph', 'Payout').getAttribute('data-state')).toBe('waiting');
    await reads('screen-verdict', /^Payout is on its way; both phones show the rest\.$/);
    await visitor.isDone();
    expect(await page.locator('.phone [data-state="here"]').count()).toBe(10);
    expect(app.sandbox.calls('getCustomerId')).toBe(2);
    // The graph has the catalog in memory.
    expect(app.sandbox.calls('getAllTickers')).toBe(1);
    await visitor.isFlawless();

    app.sandbox.clearFaults();
    await page.route('**/sandbox/gateway/trading/positions', (route) =>
      route.fulfill({ json: { positions: [] } }),
    );
    await visitor.run();
    await reads('screen-verdict', /^The two differ: something has changed/);
  });

  test.each<[Omit<Fault, 'times'>, RegExp, RegExp, RegExp]>([
    [
      { operation: 'getSession', kind: 'status', status: 503 },
      /^2 of 5 parts; blank: equity, orders, watch list \(session failed: 503\)$/,
      WHOLE,
      /^REST shows positions and payout; the graph shows all, as of [\d:]+\.$/,
    ],
    [
      { operation: 'getOpenPositions', kind: 'garbage' },
      /^4 of 5 parts; blank: positions \(positions failed: not JSON\)$/,
      new RegExp(`^4 of 5 parts${OLD}; blank: positions \\(GATEWAY_CONTRACT\\)$`),
      /^No difference here: both phones lack positions\.$/,
    ],
    [
      { operation: 'getCustomerId', kind: 'delay', delayMs: 2_500 },
      WHOLE,
      new RegExp(`^4 of 5 parts${OLD}; blank: payout \\(GATEWAY_TIMEOUT\\)$`),
      /^REST shows all.*; the graph shows equity, positions, orders, and watch list, as of [\d:]+\.$/,
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
    await reads(
      'screen-verdict',
      /^REST shows nothing; the graph shows equity, orders, and watch list, as of [\d:]+\.$/,
    );
    expect(await part('rest', 'Orders').innerText()).toMatch(/blank: session: 502/);
    expect(await part('graph', 'Orders').innerText()).toMatch(/MSFT/);
    expect(await figures(page)).toEqual(['–', '–', '–']);
    await reads(
      'announcer',
      /^rest: blank: .* graph: 3 of 5 parts, .* REST shows nothing; the graph shows /,
    );
    await visitor.isFlawless();
  });

  test('with a revoked token both get another; without a connection both, until a next visit with a stored catalog', async () => {
    await using visitor = await open({ isExpected: () => true });
    const { reads, part } = visitor;
    await visitor.preset('My token is revoked');
    await reads('rest-outcome', WHOLE);
    await reads('graph-outcome', WHOLE);
    await reads('screen-verdict', /^Both phones show the same/);
    await visitor.run();

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

  test('on a next visit have what the first one left, and as many instruments as are chosen', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    const first = await figures(page);
    expect(first[0]).toBe('1 instead of 5');
    app.sandbox.clearCalls();
    await visitor.choose('Next');
    await reads('rest-outcome', WHOLE);
    expect(await figures(page)).toEqual([
      '1 instead of 4',
      expect.stringMatching(/^[\d.]+ k?B instead of \d\.\d kB$/),
      expect.stringMatching(/instead of/),
    ]);
    expect(app.sandbox.calls('getAllTickers')).toBe(0);
    await reads('rest-calls', /tickers.*ms0 B/);
    await visitor.choose('First');
    expect(app.sandbox.calls('getAllTickers')).toBe(1);

    await visitor.choose('As it is');
    await visitor.choose('5,000');
    await reads('rest-outcome', WHOLE);
    await reads('screen-bytes-before', /^instead of 2\d\d\.\d kB$/);
    await page.reload();
    await page.locator('#screen-verdict:not(:empty)').waitFor();
    expect(await page.getByRole('radio', { name: '5,000' }).isChecked()).toBe(true);
    await visitor.isSound();
  });

  test('on another machine show what was recorded beside what is measured, and say so', async () => {
    // The controls are closed to what a proxy forwards, as they are to other machines.
    await using visitor = await open({
      extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' },
      isExpected: (problem) => problem.includes('404'),
    });
    const { page, reads } = visitor;
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
    const day = new Date(run.recordedAt).toLocaleDateString('en-GB', { dateStyle: 'long' });
    for (const [part, count] of [
      ['#screen-demo', 2],
      ['#lanes', 1],
    ] as const) {
      const signs = await page.locator(`${part} .recorded`).allTextContents();
      expect(signs).toEqual(Array(count).fill(`Recorded ${day}`));
    }
    for (const [lane, kind] of [
      ['gateway', 'fault'],
      ['graph', 'retry'],
    ] as const) {
      const recorded = run.groups
        .filter((group) => group.lane === lane && group.kind === kind)
        .reduce((sum, { moments }) => sum + moments.length, 0);
      expect(recorded).toBeGreaterThan(0);
      const marks = page.locator(`#lane-${lane} .${kind}`);
      await eventually(async () => expect(await marks.count()).toBe(recorded));
    }
    // Of a fault, what is recorded has none.
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'garbage' });
    await visitor.run();
    await reads('graph-outcome', /^4 of 5 parts.*; blank: payout \(GATEWAY_CONTRACT\)$/);
    await reads('rest-outcome', WHOLE);
    await visitor.isFlawless();
  });
});
