import { chromium, type Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { applyChanges } from '../../../client/src/live/rows.ts';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import { isReady, openPage, overflowsSideways, violations } from '../../support/browser-page.ts';
import { describeWithChromium } from '../../support/describe-with.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';

type Stand = Readonly<Record<string, unknown>>;

// The browser runs it as it is: JavaScript.
const FOLD = '../../../graphiql/page/fold.js';
const { standAfter } = (await import(FOLD)) as {
  standAfter(before: Stand | null, event: Stand, apply: typeof applyChanges): Stand | null;
};

const DESKTOP = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 640 };
const ACCOUNT = EXAMPLES.find(({ query }) => query.includes('accountChanges'))?.query ?? '';

describe('the account as it stands', () => {
  const foldAll = (...events: Stand[]) =>
    events.reduce<Stand | null>((stand, event) => standAfter(stand, event, applyChanges), null);
  const first = {
    snapshot: true,
    cursor: 'a',
    status: 'LIVE',
    positions: { upserted: [{ id: '1', profit: 1 }, { id: '2' }], opened: [], closed: [] },
    orders: null,
    session: { equity: 5 },
  };

  test('has the rows that came and not those that left, and the last figures', () => {
    const second = {
      snapshot: false,
      cursor: 'b',
      status: 'DELAYED',
      positions: { upserted: [{ id: '3' }, { id: '1', profit: 2 }], opened: ['3'], closed: ['2'] },
      orders: { upserted: [{ id: '9' }], closed: [], fetchedAt: 'now' },
      session: null,
    };
    expect(foldAll(first, second)).toEqual({
      status: 'DELAYED',
      positions: [{ id: '1', profit: 2 }, { id: '3' }],
      orders: [{ id: '9' }],
      'orders.fetchedAt': 'now',
      session: { equity: 5 },
    });
  });

  test('begins anew with a snapshot, and has the one list of positionChanges', () => {
    const whole = { snapshot: true, upserted: [{ id: '7' }], opened: ['7'], closed: [] };
    expect(foldAll(first, whole)).toEqual({ positions: [{ id: '7' }] });
    expect(foldAll(whole, { ...whole, snapshot: false, upserted: [], closed: ['7'] })).toEqual({
      positions: [],
    });
  });

  test.each([
    ['snapshot', { upserted: [], closed: [] }],
    ['the ids of rows', { snapshot: true, upserted: [{ profit: 1 }], closed: [] }],
    ['closed', { snapshot: true, upserted: [{ id: '1' }] }],
    ['a first event', { snapshot: false, upserted: [], closed: [] }],
    ['changes', { snapshot: undefined, id: '1' }],
  ])('is not known without %s', (_, event) => {
    expect(foldAll(event)).toBeNull();
  });
});

describeWithChromium('GraphiQL follows an account', (executablePath) => {
  const app = sharedApp({ POSITIONS_POLL_MS: '100', SESSION_MAX_AGE_SECONDS: '1' });
  const browser = startedOnce(() => chromium.launch({ executablePath, args: ['--no-sandbox'] }));

  const open = async (query: string, options = {}) => {
    const fragment = new URLSearchParams({ query });
    const opened = await openPage(browser, `${app.url}/graphql#${fragment}`, {
      viewport: DESKTOP,
      ...options,
    });
    await isReady(opened.page);
    await opened.page.getByRole('button', { name: /execute query/i }).click();
    return opened;
  };
  const summary = (page: Page) => page.locator('#answer-summary');
  const table = (page: Page, name: string) =>
    page.getByRole('table', { name: new RegExp(`^${name}: `) });
  const order = async (key: string) => {
    const { data } = await app.query(
      `mutation ($key: String!) {
        placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: $key }) {
          ... on OrderAccepted { orderId }
        }
      }`,
      { token: await app.signIn(), variables: { key } },
    );
    return String(data.placeOrder.orderId);
  };

  test.each(inFull([DESKTOP, NARROW], [NARROW]))(
    'at $width×$height as a table, as the fold, and by its events',
    async (viewport) => {
      await using opened = await open(ACCOUNT, { viewport });
      const { page, problems } = opened;
      await summary(page)
        .getByText(/^as of \d\d:\d\d:\d\d$/)
        .waitFor();
      await page.getByRole('button', { name: 'Table' }).click();
      const [head, figures] = await table(page, 'account').getByRole('row').all();
      expect(await head?.innerText()).toMatch(/status\s+asOf\s+totals\.count\s+totals\.profit/);
      expect(await figures?.innerText()).toMatch(/^LIVE\s/);
      const id = await order(`table-${viewport.width}`);
      await table(page, 'positions').getByText(id).waitFor();
      const { data } = await app.query('{ positions { id } }', { token: await app.signIn() });
      const ids = await table(page, 'positions').locator('tbody td:first-child').allInnerTexts();
      expect(ids).toEqual(data.positions.map((position: { id: string }) => position.id));
      expect(await table(page, 'orders').locator('tbody tr').count()).toBe(3);

      const look = async () => {
        expect(await overflowsSideways(page)).toBe(false);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await violations(page)).toEqual([]);
        }
      };
      await look();
      await page.getByRole('button', { name: 'Fold' }).click();
      expect(await page.locator('#answer-tables').isVisible()).toBe(false);
      const fold = page.getByRole('region', { name: 'What the events amount to' });
      expect(JSON.parse(await fold.innerText()).positions).toHaveLength(ids.length);
      await look();
      await page.getByRole('button', { name: 'Events' }).click();
      expect(await fold.isVisible()).toBe(false);
      await page.locator('.events > li').first().waitFor();
      expect(problems).toEqual([]);
    },
  );

  test('whole lists are tabled as they come, and have no fold', async () => {
    await using opened = await open('subscription { positions { id symbol } }');
    const { page } = opened;
    await page.getByRole('button', { name: 'Table' }).click();
    const id = await order('whole');
    await table(page, 'positions').getByText(id).waitFor();
    expect(await page.getByRole('button', { name: 'Fold' }).isVisible()).toBe(false);
  });
});
