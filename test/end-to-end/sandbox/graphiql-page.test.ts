import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../src/graphiql/page/examples.js';
import {
  clickAsAPerson,
  expectFlawless,
  openPage,
  overflowsSideways,
  waitForGraphiQL,
} from '../../support/browser-page.ts';
import { DESKTOP, PHONE } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

const WIDE = { width: 1920, height: 1080 };
const NARROW = { width: 320, height: 640 };

/** The names of the example operations, in the order of their tabs. */
const NAMES = EXAMPLES.map(
  ({ query }) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1],
);
const SUBSCRIPTIONS: readonly (string | undefined)[] = ['Account'];

describeInBrowser('GraphiQL', (browser) => {
  const app = sharedApp({ SANDBOX_TICK_MS: '200', POSITIONS_POLL_MS: '200' });

  const open = (options = {}, search = '') => openGraphiql(browser, app.url, search, options);
  const activeTab = (page: Page) => page.locator('.graphiql-tab-active').innerText();
  const tabNames = (page: Page) => page.locator('.graphiql-tab-button').allInnerTexts();

  test('the first load is under 700 kB over the wire', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.locator('.cm-property').first().waitFor();
    const sizes: number[] = await page.evaluate(
      `performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
        .map(({ transferSize }) => transferSize)`,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(700_000);
  });

  test('a query with @defer shows its parts merged', async () => {
    const query = 'query Parts { customerId ... @defer { session { balance } } }';
    await using opened = await open({}, `#${linkOf(query)}`);
    const { run, result, summary, problems } = opened;
    await run();
    await eventually(async () => expect(await summary.innerText()).toContain('200 OK'));
    const shown = await result.innerText();
    for (const field of ['customerId', 'balance']) expect(shown).toContain(field);
    expect(shown).not.toContain('hasNext');
    expect(problems).toEqual([]);
  });

  test.each(inFull([DESKTOP, WIDE, PHONE], [DESKTOP]))(
    'at $width×$height a click on a tab opens it, and Run executes its operation',
    async (viewport) => {
      await using opened = await open({ viewport });
      const { page, problems, run, stop, summary } = opened;
      expect(await tabNames(page)).toEqual(NAMES);
      // The first tab is open, so the clicks begin with the last.
      for (const [index, name] of [...NAMES.entries()].reverse()) {
        await clickAsAPerson(page, `#graphiql-session-tab-${index}`);
        expect(await activeTab(page)).toBe(name);
        await run();
        await eventually(async () => expect(await summary.locator('b').innerText()).toBe(name));
        if (SUBSCRIPTIONS.includes(name)) await stop();
        else expect(await summary.innerText()).toContain('200 OK');
      }
      expect(await overflowsSideways(page)).toBe(false);
      expect(problems).toEqual([]);
    },
  );

  test.each(inFull([DESKTOP, NARROW, PHONE], [NARROW]))(
    'at $width×$height the first visit shows an answer to Home, and is accessible',
    async (viewport) => {
      await using opened = await open({ viewport });
      const { page, problems, result, summary } = opened;
      await summary.getByText('200 OK').waitFor();
      expect(await summary.locator('b').innerText()).toBe('Home');
      await result.getByText('positions').first().waitFor();
      await expectFlawless(page);
      expect(problems).toEqual([]);
    },
  );

  test('the status line has the status, time, size and gateway calls of each answer', async () => {
    await using opened = await open();
    const { page, run, summary } = opened;
    await summary.getByText('200 OK').waitFor();
    const answer = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Home') ?? false,
    );
    await run();
    const response = await answer;
    const { extensions } = await response.json();
    const kilobytes = ((await response.body()).length / 1000).toFixed(1);
    await page.waitForFunction(
      `document.querySelector('#answer-summary').innerText.includes('${kilobytes} kB')`,
    );
    const text = await summary.innerText();
    expect(text).toMatch(/[\d.]+ (ms|s)\b/);
    const made = extensions.gateway.filter(({ source }: { source: string }) => source === 'call');
    expect(text).toContain(`${made.length} gateway call`);
    expect(await page.getByRole('status').innerText()).toBe('Home: 200 OK');
  });

  test('the user switch changes whose data is answered', async () => {
    await using opened = await open({}, `#${linkOf('{ positions { id } }')}`);
    const { page, run } = opened;
    const user = page.getByLabel('User');
    const positionsOf = async (email: string) => {
      await user.selectOption(email);
      const answer = page.waitForResponse(
        (response) => response.request().postData()?.includes('{ positions') ?? false,
      );
      await run();
      return (await answer).json();
    };
    expect((await positionsOf('pro@example.com')).data.positions.length).toBe(25);
    expect((await positionsOf('fresh@example.com')).data.positions.length).toBe(0);
    expect((await positionsOf('demo@example.com')).data.positions.length).toBeGreaterThan(5);
    expect((await positionsOf('')).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test('the chosen user is kept between the page and GraphiQL, unless the address names an unknown user', async () => {
    await using opened = await openPage(browser, `${app.url}/?user=pro%40example.com`);
    const { page, problems } = opened;
    const expectUserInLink = (user: string) =>
      eventually(async () => {
        const address = await page.locator('#graphiql-link').getAttribute('href');
        expect(new URL(address ?? '', app.url).searchParams.get('user')).toBe(user);
      });
    await expectUserInLink('pro@example.com');
    await page.locator('#graphiql-link').click();
    await waitForGraphiQL(page);
    const user = page.getByLabel('User');
    expect(await user.inputValue()).toBe('pro@example.com');
    await user.selectOption('fresh@example.com');
    await page.reload();
    await waitForGraphiQL(page);
    expect(await user.inputValue()).toBe('fresh@example.com');
    await page.getByRole('link', { name: 'Trading Graph' }).click();
    await expectUserInLink('fresh@example.com');
    await page.goto(`${app.url}/?user=somebody%40example.com`);
    await expectUserInLink('demo@example.com');
    expect(problems).toEqual([]);
  });

  test.each(['#', '?'])(
    'an address with %squery= opens a tab with the operation and its variables, but does not run it',
    async (sign) => {
      const query = 'query Linked($id: ID!) { instrument(id: $id) { name } }';
      await using opened = await open({}, `${sign}${linkOf(query, { id: 'AAPL' })}`);
      const { page, problems, run, result } = opened;
      expect(await tabNames(page)).toEqual(['Linked', ...NAMES]);
      expect(await activeTab(page)).toBe('Linked');
      // An empty line is a zero-width space.
      expect((await result.innerText()).replaceAll('\u200b', '').trim()).toBe('');
      expect(page.url()).toBe(`${app.url}/graphql`);
      await run();
      await result.getByText('Apple Inc.').waitFor();
      // A tab that is left and opened again keeps its variables.
      await clickAsAPerson(page, '#graphiql-session-tab-1');
      await clickAsAPerson(page, '#graphiql-session-tab-0');
      await page.getByRole('region', { name: 'Variables' }).getByText('AAPL').waitFor();
      await page.reload();
      await waitForGraphiQL(page);
      expect(await tabNames(page)).toEqual(['Linked', ...NAMES]);
      // The editor shows the open tab's operation.
      await page.locator('.graphiql-query-editor').getByText('Linked').waitFor();
      await page.getByRole('region', { name: 'Variables' }).getByText('AAPL').waitFor();
      expect(problems).toEqual([]);
    },
  );

  test('Ctrl+K searches the documentation, as its field says', async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.getByRole('button', { name: /documentation explorer/i }).click();
    const field = page.getByPlaceholder('Ctrl K');
    await field.waitFor();
    await page.locator('.graphiql-query-editor').click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('catalog');
    expect(await field.inputValue()).toBe('catalog');
    expect(problems).toEqual([]);
  });

  test.each(['Variables', 'Headers'])(
    'an operation whose %s are no JSON is not sent, and the status line says so',
    async (pane) => {
      await using opened = await open();
      const { page, run, result, summary } = opened;
      await summary.getByText('200 OK').waitFor();
      await page.getByRole('button', { name: pane, exact: true }).click();
      await page.getByRole('region', { name: pane }).click();
      await page.keyboard.type('{ no JSON');
      await run();
      await result.getByText(`${pane} are invalid JSON`).waitFor();
      await eventually(async () => expect(await summary.innerText()).toBe('Not sent'));
    },
  );

  test('with the keyboard a user can reach the editor, run its operation and leave it', async () => {
    await using opened = await open({}, `#${linkOf('query Mine { customerId }')}`);
    const { page, problems, summary } = opened;
    const isIn = (selector: string) =>
      page.evaluate<boolean>(`Boolean(document.activeElement.closest('${selector}'))`);
    const MAX_STOPS = 60;
    for (let stop = 0; stop < MAX_STOPS && !(await isIn('.graphiql-query-editor')); stop += 1) {
      await page.keyboard.press('Tab');
    }
    expect(await isIn('.graphiql-query-editor .CodeMirror')).toBe(true);
    await page.keyboard.press('Control+Enter');
    await summary.getByText('200 OK').waitFor();
    await page.keyboard.press('Tab');
    expect(await isIn('.CodeMirror')).toBe(false);
    expect(problems).toEqual([]);
  });
});
