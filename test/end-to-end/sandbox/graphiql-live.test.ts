import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { applyChanges } from '../../../client/src/live/rows.ts';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import { expectFlawless, type PageOptions, violations } from '../../support/browser-page.ts';
import { buying } from '../../support/buying.ts';
import { DESKTOP } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

type Options = PageOptions & { readonly url?: string };
type Stand = Readonly<Record<string, unknown>>;

// The browser runs it as it is: JavaScript.
const FOLD = '../../../graphiql/page/fold.js';
const { standAfter } = (await import(FOLD)) as {
  standAfter(before: Stand | null, event: Stand, apply: typeof applyChanges): Stand | null;
};

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

describeInBrowser('GraphiQL follows an account', (browser) => {
  const app = sharedApp({ POSITIONS_POLL_MS: '100', SESSION_MAX_AGE_SECONDS: '1' });

  const open = async (query: string, { url = app.url, ...options }: Options = {}) => {
    const opened = await openGraphiql(browser, url, `#${linkOf(query)}`, options);
    await opened.run();
    return opened;
  };
  const status = (page: Page) => page.getByRole('status').innerText();
  const table = (page: Page, name: string) =>
    page.getByRole('table', { name: new RegExp(`^${name}: `) });
  const order = async (key: string) => {
    const document = buying(key, '... on OrderAccepted { orderId }');
    const { data } = await app.query(document, { token: await app.signIn() });
    return String(data.placeOrder.orderId);
  };

  test.each(inFull([DESKTOP, NARROW], [NARROW]))(
    'at $width×$height as a table, as the fold, and by its events',
    async (viewport) => {
      await using opened = await open(ACCOUNT, { viewport });
      const { page, problems, summary } = opened;
      await summary.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor();
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

      const look = () => expectFlawless(page);
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

  test('without a network it says so, and resumes by the cursor with what was missed', async () => {
    const isExpected = (problem: string) => /ERR_INTERNET_DISCONNECTED/.test(problem);
    await using opened = await open(ACCOUNT, { isExpected });
    const { page, problems, summary } = opened;
    await page.getByRole('button', { name: 'Table' }).click();
    await table(page, 'positions').waitFor();
    const sent: { query: string; variables?: { after?: string } }[] = [];
    page.on('request', (request) => void sent.push(request.postDataJSON()));
    await page.context().setOffline(true);
    await summary.getByText("You're offline", { exact: true }).waitFor();
    expect(await status(page)).toContain("Account: You're offline");
    // What was there stays in sight.
    expect(await table(page, 'positions').isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
    const id = await order('offline');
    expect(await table(page, 'positions').getByText(id).count()).toBe(0);
    await page.context().setOffline(false);
    await table(page, 'positions').getByText(id).waitFor();
    await summary.getByText(/^missed [\d.]+ m?s, resumed by the cursor$/).waitFor();
    expect(await status(page)).toMatch(/^Account: missed /);
    await summary.getByText('Streaming').waitFor();
    expect(sent.at(-1)?.query).toBe(ACCOUNT);
    expect(sent.at(-1)?.variables?.after).toMatch(/\S/);
    expect(problems).toEqual([]);
  });

  test('a line that is cut is opened anew for the user it was opened for', async () => {
    await using board = await startSwitchboard(app.url);
    const isExpected = (problem: string) => /ERR_/.test(problem);
    const query = 'subscription { positions { id } }';
    await using opened = await open(query, { isExpected, url: `http://${board.address}` });
    const { page, problems, summary } = opened;
    await page.getByRole('button', { name: 'Table' }).click();
    await table(page, 'positions').waitFor();
    // Nobody listens there.
    board.to('http://127.0.0.1:1');
    board.cut();
    await summary.getByText("You're offline", { exact: true }).waitFor();
    await page.getByLabel('User').selectOption('fresh@example.com');
    const id = await order('cut');
    board.to(app.url);
    await table(page, 'positions').getByText(id).waitFor();
    await summary.getByText(/^missed [\d.]+ m?s, begun anew$/).waitFor();
    expect(problems).toEqual([]);
  });

  test('without a network an operation fails as offline', async () => {
    const isExpected = (problem: string) => /ERR_INTERNET_DISCONNECTED/.test(problem);
    await using opened = await open('{ customerId }', { isExpected });
    const { page, run, result, summary } = opened;
    await summary.getByText('200 OK').waitFor();
    await page.context().setOffline(true);
    await run();
    await result.getByText("You're offline").waitFor();
  });

  test('stopping ends the attempts', async () => {
    const isExpected = (problem: string) => /ERR_INTERNET_DISCONNECTED/.test(problem);
    await using opened = await open(ACCOUNT, { isExpected });
    const { page, run, stop, summary } = opened;
    await summary.getByText('Streaming').waitFor();
    await page.context().setOffline(true);
    await summary.getByText("You're offline", { exact: true }).waitFor();
    await stop();
    await summary.getByText('Stopped').waitFor();
    const sent: string[] = [];
    page.on('request', (request) => void sent.push(request.url()));
    await page.context().setOffline(false);
    await run();
    await summary.getByText('Streaming').waitFor();
    expect(sent).toEqual([`${app.url}/graphql`]);
  });
});
