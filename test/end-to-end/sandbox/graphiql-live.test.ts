import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import { expectFlawless, type PageOptions, violations } from '../../support/browser-page.ts';
import { buying } from '../../support/buying.ts';
import { DESKTOP } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { closedClients } from '../live/closed-clients.ts';
import { ACCOUNT as ACCOUNT_EVENTS, webSocketClient } from '../live/watcher.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

type Options = PageOptions & { readonly url?: string };

const NARROW = { width: 320, height: 640 };
const ACCOUNT = EXAMPLES.find(({ query }) => query.includes('accountChanges'))?.query ?? '';

describeInBrowser('GraphiQL follows an account', (browser) => {
  const app = sharedApp({ POSITIONS_POLL_MS: '100', SESSION_MAX_AGE_SECONDS: '1' });

  const keeping = closedClients();
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
    'at $width×$height as a table, as the fold, and by a log of its events',
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
      const stand = JSON.parse(await fold.innerText());
      expect(stand).toMatchObject({ status: 'LIVE', 'orders.fetchedAt': expect.any(String) });
      expect(stand.positions.map((position: { id: string }) => position.id)).toEqual(ids);
      expect(stand.orders).toHaveLength(3);
      await look();
      await page.getByRole('button', { name: 'Events' }).click();
      expect(await fold.isVisible()).toBe(false);
      const events = page.locator('.events > li');
      await opened.stop();
      await summary.getByText('Stopped').waitFor();
      const count = await events.count();
      expect(count).toBeGreaterThan(1);
      expect(await summary.innerText()).toContain(`${count} events`);
      // Newest first: the snapshot is at the end.
      await events.last().locator('summary').click();
      expect(await events.last().locator('pre').innerText()).toContain('"snapshot": true');
      await events.first().locator('summary').click();
      expect(await events.first().locator('pre').innerText()).toContain('"snapshot": false');
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
    // The server keeps a list that somebody watches, however long this one is away.
    keeping(webSocketClient(app, await app.signIn())).watch({}, ACCOUNT_EVENTS);
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
    await expect
      .poll(() => summary.innerText())
      .toMatch(/missed [\d.]+ m?s, resumed by the cursor/);
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
    await summary.getByText('The server is away', { exact: true }).waitFor();
    await page.getByLabel('User').selectOption('fresh@example.com');
    const id = await order('cut');
    board.to(app.url);
    await table(page, 'positions').getByText(id).waitFor();
    await summary.getByText(/^missed [\d.]+ m?s, begun anew$/).waitFor();
    expect(problems).toEqual([]);
  });

  test('a token that ends is no completion, and no event is read out', async () => {
    await using opened = await openGraphiql(browser, app.url, `#${linkOf(ACCOUNT)}`);
    const { page, run, result, summary } = opened;
    const sending = page.waitForRequest((request) => request.postDataJSON()?.query === ACCOUNT);
    await run();
    await summary.getByText('Streaming').waitFor();
    expect(await result.getAttribute('aria-live')).toBe('off');
    const { authorization = '' } = (await sending).headers();
    app.sandbox.revoke({ token: authorization.replace('Bearer ', '') });
    await summary.locator('.state.bad', { hasText: 'Ended by an error' }).waitFor();
    expect(await status(page)).toMatch(/^Account: Ended by an error, /);
  });

  test.each([
    [[{ id: '1', symbol: null }], 'Complete'],
    [null, 'Ended by an error'],
  ])('an end after an event with an error and %j is called "%s"', async (positions, how) => {
    const query = 'subscription { positions { id symbol } }';
    await using opened = await openGraphiql(browser, app.url, `#${linkOf(query)}`);
    const event = { data: { positions }, errors: [{ message: 'A field failed.' }] };
    const body = `event: next\ndata: ${JSON.stringify(event)}\n\nevent: complete\ndata:\n\n`;
    await opened.page.route(`${app.url}/graphql`, (route) =>
      route.request().postDataJSON()?.query === query
        ? route.fulfill({ contentType: 'text/event-stream', body })
        : route.continue(),
    );
    await opened.run();
    await opened.summary.locator('.state', { hasText: how }).waitFor();
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
