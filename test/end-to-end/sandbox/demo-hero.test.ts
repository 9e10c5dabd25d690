import { afterEach, beforeEach, expect, test } from 'vitest';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { positionWith } from '../../gateway/wire/rows.ts';
import { pathOf } from '../../support/ask-gateway.ts';
import { PHONE, type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { sharedApp } from '../../support/shared-app.ts';

const PHONES = ['rest', 'graph'] as const;
const HEBREW = 'טבע תעשיות פרמצבטיות בע"מ';
const SAME =
  /^Both phones show the same 6 positions, and the same orders and instruments(?:; the graph’s (?:equity|balance|equity and balance) (?:is|are) (?:\d+ s|less than a second) older: cached)?\.$/;

describeInBrowser('the two phones', (browser) => {
  const app = sharedApp({ GATEWAY_TIMEOUT_MS: '5000', LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  const open = async (options: VisitOptions = {}) => {
    const visitor = await visit(browser, app.url, options);
    const { page } = visitor;
    await visitor.unfoldWhenLive();
    return {
      ...visitor,
      async run() {
        await visitor.click('Open both again');
        await visitor.waitUntilDrawn();
      },
      part: (phone: (typeof PHONES)[number], name: string) =>
        page.locator(`#${phone}-phone [data-part="${name}"]`),
      figures: () =>
        page
          .locator('#screen-figures dd')
          .evaluateAll((all) => all.map((dd) => dd.textContent?.trim())),
    };
  };

  test('draw the same screen part by part, and are compared while the account is unchanged', async () => {
    await using visitor = await open();
    const { page, waitForText, part, figures } = visitor;
    await waitForText('screen-verdict', SAME);
    expect(await figures()).toEqual([
      '1 REST: 5',
      expect.stringMatching(/^[\d.]+ k?B REST: [\d.]+ kB$/),
      expect.stringMatching(/^[\d,.]+ m?s REST: [\d,.]+ m?s$/),
    ]);
    for (const [name, texts] of [
      ['Equity', /[\d,]+\.\d\d USD\s+Balance/],
      ['Positions', /^Positions 6\s*profit\s+AAPL\s+Apple Inc\./],
      ['Orders', /^Orders 3\s*price\s+MSFT/],
      ['Watch list', /leverage[\s\S]*DE40\s+Germany 40 Index\s+1:20/],
      ['Payout', /Customer\s+cus_700001\s+Bank account\s+approved/],
    ] as const) {
      for (const phone of PHONES) expect(await part(phone, name).innerText()).toMatch(texts);
    }
    // Over the graph the slow field arrives as a separate part.
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 });
    await visitor.click('Open both again');
    const [here, waiting] = [
      '[data-part="Positions"][data-state="here"]',
      '[data-part="Payout"][data-state="waiting"]',
    ];
    await page.locator(`#graph-phone:has(${here}):has(${waiting})`).waitFor();
    await visitor.waitUntilDrawn();
    expect(await page.locator('.phone [data-state="here"]').count()).toBe(PHONES.length * 5);
    await visitor.expectFlawless();

    // Only the phone over REST gets other positions, as if the account had changed in between.
    app.sandbox.clearFaults();
    const teva = positionWith({ symbol: 'TEVA', name: HEBREW, profit: 1 });
    await page.route(`**/sandbox/gateway${pathOf('getOpenPositions')}*`, (route) =>
      route.fulfill({ json: OPEN_POSITIONS.toWire({ positions: [teva] }) }),
    );
    await visitor.run();
    await waitForText(
      'screen-verdict',
      /^Both phones show all, and the account has changed between/,
    );
    expect(
      await page.getByText(HEBREW).evaluate((name: Element) => getComputedStyle(name).direction),
    ).toBe('rtl');
  });

  test.each<[Omit<Fault, 'times'>, RegExp, (typeof PHONES)[number], RegExp]>([
    [
      { operation: 'getCustomerId', kind: 'garbage' },
      /^Both phones show no payout\.$/,
      'rest',
      /^Payout\s+customer-id answered no JSON$/,
    ],
    [
      { operation: 'getCustomerId', kind: 'delay', delayMs: 8_000 },
      /^REST shows 5 of 5 parts; the graph shows 4 of 5 parts, no payout(?:, equity of [\d:]+)?\./,
      'graph',
      /^Payout\s+gateway timeout$/,
    ],
  ])(
    'under %o show which parts arrived, and why the others did not',
    async (fault, verdict, phone, reason) => {
      await using visitor = await open();
      const { waitForText } = visitor;
      app.sandbox.fail(fault);
      await visitor.run();
      await waitForText('screen-verdict', verdict);
      expect(await visitor.part(phone, 'Payout').innerText()).toMatch(reason);
      expect(await visitor.figures()).toEqual(['–', '–', '–']);
      await visitor.expectFlawless();
      app.sandbox.clearFaults();
      await visitor.run();
      await waitForText('screen-bytes-before', /^REST: /);
    },
  );

  test('appear on the first screen of a real phone, below the title and a command', async () => {
    await using visitor = await visit(browser, app.url, { viewport: PHONE });
    const { page } = visitor;
    await page.locator('#live .live-status[data-status=LIVE]').waitFor();
    const nameBox = await page.getByText('Trading Graph', { exact: true }).boundingBox();
    expect(nameBox?.width).toBeGreaterThan(50);
    const tops = ['h1', '#command', '#graph-phone'].map(async (selector) => {
      const box = await page.locator(selector).boundingBox();
      return box?.y ?? Number.NaN;
    });
    const positions = await Promise.all(tops);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    // The drawn phone begins in the upper half of the screen, and the whole page is short.
    expect(positions.at(-1)).toBeLessThan(PHONE.height / 2);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2_000);
    // Texts follow the browser's text size.
    const titleHeight = async () => (await page.locator('h1').boundingBox())?.height ?? 0;
    const before = await titleHeight();
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    expect(await titleHeight()).toBeGreaterThan(1.8 * before);
  });

  test('are hidden without JavaScript, which the page says that it needs', async () => {
    await using visitor = await visit(browser, app.url, { javaScriptEnabled: false });
    const { page } = visitor;
    await page.getByText(/needs JavaScript/).waitFor();
    expect(await page.locator('.scripted').filter({ visible: true }).count()).toBe(0);
  });

  test('show only the graph’s phone behind a proxy or on another machine', async () => {
    await using visitor = await open({ extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' } });
    const { page, waitForText } = visitor;
    await waitForText('screen-verdict', /^The app over the graph opens its screen by one query\.$/);
    await visitor.part('graph', 'Positions').getByText('AAPL').waitFor();
    expect(await page.locator('.local').filter({ visible: true }).count()).toBe(0);
    await page.getByText('for a browser on the machine that this server runs on').waitFor();
    await visitor.expectFlawless();
  });
});
