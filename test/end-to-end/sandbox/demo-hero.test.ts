import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import run from '../../../page/recorded-run.json' with { type: 'json' };
import type { Fault } from '../../../sandbox/faults.ts';
import { violations } from '../../support/browser-page.ts';
import { PHONE, type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const PHONES = ['rest', 'graph'] as const;
const HEBREW = 'טבע תעשיות פרמצבטיות בע"מ';
const SMALLEST = { width: 320, height: 700 };
const SAME = /^Both phones show the same 6 positions, and the same orders and instruments\.$/;

describeInBrowser('the two phones', (browser) => {
  const app = sharedApp({ GATEWAY_TIMEOUT_MS: '1500', LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  const open = async (options: VisitOptions = {}) => {
    const visitor = await visit(browser, app.url, options);
    const { page } = visitor;
    const isDone = visitor.isDrawn;
    await visitor.isLive();
    return {
      ...visitor,
      isDone,
      async run() {
        await visitor.click('Open both again');
        await isDone();
      },
      /** Chooses a switch, by which the phones draw anew. */
      async choose(name: string) {
        await page.getByRole('radio', { name, exact: true }).check();
        await isDone();
      },
      part: (phone: (typeof PHONES)[number], name: string) =>
        page.locator(`#${phone}-phone [data-part="${name}"]`),
    };
  };
  const figures = (page: Page) =>
    page
      .locator('#screen-figures dd')
      .evaluateAll((all) => all.map((dd) => dd.textContent?.trim()));

  test('draw the same screen part by part, and are compared unless the account has changed between them', async () => {
    await using visitor = await open();
    const { page, reads, part } = visitor;
    await reads('screen-verdict', SAME);
    expect(await figures(page)).toEqual([
      '1 instead of 5',
      expect.stringMatching(/^[\d.]+ k?B instead of [\d.]+ kB$/),
      expect.stringMatching(/^[\d,.]+ m?s instead of [\d,.]+ m?s$/),
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
    // Each says how old its figures are.
    expect(await page.locator('.phone [data-part="Equity"] time').count()).toBe(2);
    expect(await page.locator('#rest-calls li').count()).toBe(5);
    expect(await page.locator('#graph-calls li').count()).toBe(1);
    // As slow as a phone's network.
    await page.getByText('3G, simulated').waitFor();
    const [figure = '', unit] = (await page.locator('#screen-time').innerText()).split(' ');
    expect(Number(figure) * (unit === 's' ? 1_000 : 1)).toBeGreaterThan(150);

    app.sandbox.clearCalls();
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_000 });
    await visitor.click('Open both again');
    await page.locator('#rest-phone [data-part="Positions"][data-state="here"]').waitFor();
    expect(await part('rest', 'Payout').getAttribute('data-state')).toBe('waiting');
    // Over the graph the rest comes as a part of its own.
    await page.locator('#graph-phone [data-part="Positions"][data-state="here"]').waitFor();
    expect(await part('graph', 'Payout').getAttribute('data-state')).toBe('waiting');
    await reads('screen-verdict', /^Payout is on the way; both phones show the rest\.$/);
    await visitor.isDone();
    expect(await page.locator('.phone [data-state="here"]').count()).toBe(10);
    expect(app.sandbox.calls('getCustomerId')).toBe(2);
    // The graph has the catalog in memory.
    expect(app.sandbox.calls('getAllTickers')).toBe(1);
    await visitor.isFlawless();

    app.sandbox.clearFaults();
    await page.route('**/sandbox/gateway/trading/positions', (route) =>
      route.fulfill({ json: { positions: [{ symbol: 'TEVA', friendlyName: HEBREW, profit: 1 }] } }),
    );
    await visitor.run();
    await reads('screen-verdict', /^Both phones show all, and the account has changed between/);
    // What is cut off of a name is its end.
    const direction = (name: Element) => getComputedStyle(name).direction;
    expect(await page.getByText(HEBREW).evaluate(direction)).toBe('rtl');
  });

  test.each<[Omit<Fault, 'times'>, RegExp, (typeof PHONES)[number], string, RegExp]>([
    [
      { operation: 'getCustomerId', kind: 'garbage' },
      /^Both phones show no payout\. Set by another visitor: getCustomerId garbage\.$/,
      ...(['rest', 'Payout', /blank: customer-id: not json/] as const),
    ],
    [
      { operation: 'getCustomerId', kind: 'delay', delayMs: 2_500 },
      /^REST shows 5 of 5 parts; the graph shows 4 of 5 parts, no payout\./,
      ...(['graph', 'Payout', /blank: gateway timeout/] as const),
    ],
  ])(
    'under %o say what came, and why the rest did not',
    async (fault, verdict, phone, name, why) => {
      await using visitor = await open();
      const { page, reads } = visitor;
      app.sandbox.fail(fault);
      await visitor.run();
      await reads('screen-verdict', verdict);
      expect(await visitor.part(phone, name).innerText()).toMatch(why);
      expect(await figures(page)).toEqual(['–', '–', '–']);
      expect(await violations(page)).toEqual([]);
      app.sandbox.clearFaults();
      await visitor.run();
      await reads('screen-bytes-before', /^instead of/);
      await visitor.isSound();
    },
  );

  test('show positions of before with their age where the gateway names none, and are told to a screen reader', async () => {
    await using visitor = await open({ isExpected: () => true, viewport: SMALLEST });
    const { page, reads, part } = visitor;
    app.sandbox.fail({ operation: '*', kind: 'reset-before' });
    // The live account's last list counts for as long as until the next.
    await eventually(async () => {
      await visitor.run();
      expect(await part('graph', 'Positions').innerText()).toMatch(
        /^Positions\s*\d\d:\d\d:\d\d\s+AAPL/,
      );
    });
    const words =
      /^REST shows 0 of 5 parts; the graph shows 4 of 5 parts, no payout, prices of \d\d:\d\d:\d\d\. Set by another visitor: Gateway down\.$/;
    await reads('screen-verdict', words);
    await reads('announcer', words);
    expect(await part('rest', 'Orders').innerText()).toMatch(/blank: session: 502/);
    expect(await part('graph', 'Equity').innerText()).toMatch(/^Equity\s*\d\d:\d\d:\d\d\s/);
    expect(await figures(page)).toEqual(['–', '–', '–']);
    await visitor.isFlawless();
  });

  test('stand on a phone’s first screen below the benefit, a command and the way to an app, and the whole page is short', async () => {
    await using visitor = await visit(browser, app.url, { viewport: PHONE });
    const { page } = visitor;
    await page.locator('#live .live-status[data-status=LIVE]').waitFor();
    const tops = ['h1', '#command', '.start .primary', '#graph-phone'].map(async (selector) => {
      const box = await page.locator(selector).boundingBox();
      return box?.y ?? Number.NaN;
    });
    const inOrder = await Promise.all(tops);
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
    expect(inOrder.at(-1)).toBeLessThan(PHONE.height / 2);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(4_000);
    // Whatever size of text the browser is set to.
    const titleHeight = async () => (await page.locator('h1').boundingBox())?.height ?? 0;
    const before = await titleHeight();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await titleHeight()).toBeGreaterThan(1.8 * before);
  });

  test('are not there without JavaScript: the page says what it is, and leads to the documentation', async () => {
    await using visitor = await visit(browser, app.url, { javaScriptEnabled: false });
    const { page } = visitor;
    await page.getByText(/opens a trading app’s screen over REST and over the graph/).waitFor();
    expect(await page.locator('.scripted').filter({ visible: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'The documentation' }).click();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  });

  test('on a next visit have what the first one left, and as many instruments as are chosen', async () => {
    await using visitor = await open();
    const { page, reads } = visitor;
    const first = await figures(page);
    expect(first[0]).toBe('1 instead of 5');
    app.sandbox.clearCalls();
    await visitor.choose('Next');
    await reads('screen-verdict', SAME);
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
    await reads('screen-bytes-before', /^instead of 2\d\d\.\d kB$/);
    await page.reload();
    await visitor.isDrawn();
    expect(await page.locator('[name=size][value="5000"]').isChecked()).toBe(true);
    await visitor.isSound();
  });

  test('behind a proxy, as on another machine, show what was recorded, and say so', async () => {
    await using visitor = await open({ extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' } });
    const { page, reads } = visitor;
    await reads('screen-verdict', SAME);
    const { rest, graph } = run.comparison;
    expect((await figures(page))[0]).toBe(`${graph.calls.length} instead of ${rest.calls.length}`);
    const calls = await page.locator('#rest-calls .call').allTextContents();
    expect(calls.sort()).toEqual(rest.calls.map(({ label }) => label).sort());
    const day = new Date(run.recordedAt).toLocaleDateString('en-GB', { dateStyle: 'long' });
    for (const part of ['#screen-demo', '#lanes']) {
      expect(await page.locator(`${part} .pill.recorded`).textContent()).toBe(`Recorded ${day}`);
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
    await visitor.isFlawless();
  });
});
