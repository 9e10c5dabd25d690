import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import {
  clickAsAPerson,
  expectFlawless,
  isReady,
  openPage,
  overflowsSideways,
} from '../../support/browser-page.ts';
import { DESKTOP, PHONE } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

const WIDE = { width: 1920, height: 1080 };
// A short run shows each thing in one of these windows.
const NARROW = { width: 320, height: 640 };

const NAMES = EXAMPLES.map(
  ({ query }) => /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1],
);
const LIVE = NAMES.filter((_, at) => EXAMPLES[at]?.group === 'Live');

describeInBrowser('GraphiQL', (browser) => {
  const app = sharedApp({ SANDBOX_TICK_MS: '200', POSITIONS_POLL_MS: '200' });

  const open = (options = {}, rest = '') => openGraphiql(browser, app.url, rest, options);
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

  test('a query with @defer shows its parts together', async () => {
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
    'at $width×$height a click on a tab opens it, and Run executes what it shows',
    async (viewport) => {
      await using opened = await open({ viewport });
      const { page, problems, run, stop, summary } = opened;
      expect(await tabNames(page)).toEqual(NAMES);
      // From the last to the first, so that no tab is the open one already.
      for (const [at, name] of [...NAMES.entries()].reverse()) {
        await clickAsAPerson(page, `#graphiql-session-tab-${at}`);
        expect(await activeTab(page)).toBe(name);
        await run();
        await eventually(async () => expect(await summary.locator('b').innerText()).toBe(name));
        if (LIVE.includes(name)) await stop();
        else expect(await summary.innerText()).toContain('200 OK');
      }
      expect(await overflowsSideways(page)).toBe(false);
      expect(problems).toEqual([]);
    },
  );

  test.each(inFull([DESKTOP, NARROW], [NARROW]))(
    'at $width×$height tabs are in groups with headings, for screen readers too',
    async (viewport) => {
      await using opened = await open({ viewport }, `#${linkOf('query Mine { customerId }')}`);
      const { page, problems } = opened;
      const shown = async () => {
        const groups = page
          .getByRole('list', { name: 'Select active operation' })
          .getByRole('list');
        const all = await groups.all();
        return Promise.all(
          all.map(async (group) => [
            (await group.ariaSnapshot()).split('\n')[0],
            ...(await group.locator('.graphiql-tab-button').allInnerTexts()),
          ]),
        );
      };
      const namesOf = (group: string) => NAMES.filter((_, at) => EXAMPLES[at]?.group === group);
      const expected = ['Read', 'Live', 'Trade', 'When it fails'].map((group) => [
        `- list "${group}":`,
        ...namesOf(group),
      ]);
      expect(await shown()).toEqual([['- list "Yours":', 'Mine'], ...expected]);
      // Arrows go from one group to the next.
      await page.locator('#graphiql-session-tab-0').focus();
      await page.keyboard.press('ArrowRight');
      expect(await activeTab(page)).toBe('Home');
      await page.keyboard.press('End');
      expect(await activeTab(page)).toBe(NAMES.at(-1));
      // An example that is edited stays in its group, and a new tab is one's own, drawn far from here.
      await page.locator('.graphiql-query-editor .CodeMirror').click();
      await page.keyboard.insertText('# edited ');
      await eventually(() =>
        page.evaluate<boolean>("localStorage['graphiql:tabState'].includes('# edited')"),
      );
      expect((await shown()).at(-1)).toEqual(expected.at(-1));
      await page.getByRole('button', { name: 'New tab' }).click();
      expect((await shown())[0]).toEqual(['- list "Yours":', 'Mine', '<untitled>']);
      await expectFlawless(page);
      expect(problems).toEqual([]);
    },
  );

  test('the line below has status, time, size and gateway calls of each answer', async () => {
    await using opened = await open();
    const { page, run, summary } = opened;
    const asked = page.waitForResponse(
      (response) => response.request().postData()?.includes('query Home') ?? false,
    );
    await run();
    const response = await asked;
    const { extensions } = await response.json();
    await summary.getByText('200 OK').waitFor();
    const text = await summary.innerText();
    const bytes = (await response.body()).length;
    expect(text).toMatch(/[\d.]+ (ms|s)\b/);
    expect(text).toContain(`${(bytes / 1000).toFixed(1)} kB`);
    const made = extensions.gateway.filter(({ source }: { source: string }) => source === 'call');
    expect(text).toContain(`${made.length} gateway call`);
    expect(await page.getByRole('status').innerText()).toMatch(/^Home: 200 OK, /);

    const details = page.locator('#answer-details');
    expect(await details.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Details' }).click();
    expect(await details.locator('tbody tr').count()).toBe(extensions.gateway.length);
    for (const { operation } of extensions.gateway) {
      expect(await details.locator('tbody').innerText()).toContain(operation);
    }
    expect(await details.innerText()).toContain(response.headers()['x-request-id']);
    await expectFlawless(page);
    await page.getByRole('button', { name: 'Details' }).click();
    expect(await details.isVisible()).toBe(false);

    // A call that others share is none of the cache.
    await page.route('**/graphql', async (route) => {
      const answer = await route.fetch();
      const calls = ['call', 'shared', 'cache'].map((source) => ({
        operation: 'x',
        ms: 1,
        source,
      }));
      const json = { ...(await answer.json()), extensions: { gateway: calls } };
      await route.fulfill({ response: answer, json });
    });
    await run();
    await summary.getByText('1 gateway call, 1 from cache, 1 shared').waitFor();
  });

  test('the user switch changes whose data is answered', async () => {
    await using opened = await open({}, `#${linkOf('{ positions { id } }')}`);
    const { page, run } = opened;
    const user = page.getByLabel('User');
    const positionsOf = async (email: string) => {
      await user.selectOption(email);
      const asked = page.waitForResponse(
        (response) => response.request().postData()?.includes('{ positions') ?? false,
      );
      await run();
      return (await asked).json();
    };
    expect((await positionsOf('pro@example.com')).data.positions.length).toBe(25);
    expect((await positionsOf('fresh@example.com')).data.positions.length).toBe(0);
    expect((await positionsOf('demo@example.com')).data.positions.length).toBeGreaterThan(5);
    expect((await positionsOf('')).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test('the user comes along in the address, stays after a reload, and goes back to the page, which takes only one of the sandbox', async () => {
    await using opened = await openPage(browser, `${app.url}/?user=pro%40example.com`);
    const { page, problems } = opened;
    const isTakenAlong = (user: string) =>
      eventually(async () => {
        for (const link of ['#graphiql-link', '#search-code a']) {
          const address = await page.locator(link).getAttribute('href');
          expect(new URL(address ?? '', app.url).searchParams.get('user')).toBe(user);
        }
        expect(page.url()).toBe(`${app.url}/`);
      });
    await isTakenAlong('pro@example.com');
    await page.locator('#graphiql-link').click();
    await isReady(page);
    const user = page.getByLabel('User');
    expect(await user.inputValue()).toBe('pro@example.com');
    await user.selectOption('fresh@example.com');
    await page.reload();
    await isReady(page);
    expect(await user.inputValue()).toBe('fresh@example.com');
    await page.getByRole('link', { name: 'Trading Graph' }).click();
    await isTakenAlong('fresh@example.com');
    await page.goto(`${app.url}/?user=somebody%40example.com`);
    await isTakenAlong('fresh@example.com');
    expect(problems).toEqual([]);
  });

  test.each(['#', '?'])(
    '%squery= opens a tab with the operation and its variables, which stays after a reload, and runs nothing',
    async (sign) => {
      const query = 'query Linked($id: ID!) { instrument(id: $id) { name } }';
      await using opened = await open({}, `${sign}${linkOf(query, { id: 'AAPL' })}`);
      const { page, problems, run, result } = opened;
      expect(await tabNames(page)).toEqual(['Linked', ...NAMES]);
      expect(await activeTab(page)).toBe('Linked');
      // An empty line is a space without width.
      expect((await result.innerText()).replaceAll('\u200b', '').trim()).toBe('');
      expect(page.url()).toBe(`${app.url}/graphql`);
      await run();
      await result.getByText('Apple Inc.').waitFor();
      // A tab that is left and opened again keeps its variables.
      await clickAsAPerson(page, '#graphiql-session-tab-1');
      await clickAsAPerson(page, '#graphiql-session-tab-0');
      await page.getByRole('region', { name: 'Variables' }).getByText('AAPL').waitFor();
      await page.reload();
      await isReady(page);
      expect(await tabNames(page)).toEqual(['Linked', ...NAMES]);
      // The editor shows the open tab, not what was shown last.
      await page.locator('.graphiql-query-editor').getByText('Linked').waitFor();
      await page.getByRole('region', { name: 'Variables' }).getByText('AAPL').waitFor();
      expect(problems).toEqual([]);
    },
  );

  test('tabs and what a link brings outlive visits in which the editor is not loaded', async () => {
    await using opened = await open({
      isExpected: (problem: string) => /ERR_FAILED/.test(problem),
    });
    const { page } = opened;
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.insertText('# edited ');
    const isStored = "localStorage['graphiql:tabState'].includes('# edited')";
    await eventually(() => page.evaluate<boolean>(isStored));
    await page.route(/graphiql\.js/, (route) => route.abort());
    await page.goto(`${app.url}/graphql?${linkOf('query Linked { customerId }')}`);
    for (const _ of ['without the tabs of GraphiQL', 'without the link']) {
      await page.getByText('The editor could not be loaded.').waitFor();
      await page.reload();
    }
    await page.unrouteAll();
    await page.reload();
    await isReady(page);
    expect(await tabNames(page)).toEqual(['Linked', ...NAMES]);
    await clickAsAPerson(page, '#graphiql-session-tab-1');
    await page.locator('.graphiql-query-editor').getByText('# edited').waitFor();
  });

  test('says so where a browser allows no storage', async () => {
    await using opened = await openPage(browser, `${app.url}/graphql`, {
      initScript: `Object.defineProperty(window, 'localStorage', { get() { throw new Error('No storage.'); } });`,
    });
    await opened.page.getByText('The editor cannot start: Error: No storage.').waitFor();
  });

  test('a panel that cannot be loaded says so, and takes nothing away', async () => {
    await using opened = await open({
      isExpected: (problem: string) => /ERR_FAILED/.test(problem),
    });
    const { page } = opened;
    await page.route(/later-/, (route) => route.abort());
    for (const name of [/Documentation Explorer/, /GraphiQL Explorer/]) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('alert').getByText('could not be loaded').waitFor();
    }
    expect(await tabNames(page)).toEqual(NAMES);
  });

  test('everything works by keyboard alone: the editor is the seventh stop, and Tab leaves it', async () => {
    await using opened = await open();
    const { page, problems, summary } = opened;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () =>
      page.evaluate(`(({ id, ariaLabel, textContent, tagName }) =>
        id && !id.startsWith('radix') ? id : ariaLabel || (tagName === 'TEXTAREA' ? 'editor' : textContent.trim()))(document.activeElement)`);
    const isIn = (selector: string) =>
      page.evaluate<boolean>(`Boolean(document.activeElement.closest('${selector}'))`);

    await press('Tab');
    expect(await focused()).toContain('Trading Graph');
    await press('Tab');
    expect(await focused()).toBe('user');
    await press('ArrowDown');
    expect(await page.getByLabel('User').inputValue()).toBe('pro@example.com');
    await press('Tab');
    expect(await focused()).toBe('Schema');

    // The sidebar and the tabs are one stop each; then comes what opens a new tab.
    await press('Tab', 'Tab');
    expect(await focused()).toBe('graphiql-session-tab-0');
    await press('End');
    expect(await activeTab(page)).toBe(NAMES.at(-1));
    await press('Home', 'Tab');
    expect(await focused()).toBe('New tab');

    await press('Tab');
    expect(await isIn('.graphiql-query-editor .CodeMirror')).toBe(true);
    await press('Control+Enter');
    await summary.getByText('200 OK').waitFor();
    await press('Tab');
    expect(await isIn('.CodeMirror')).toBe(false);
    expect(await isIn('.graphiql-toolbar')).toBe(true);
    await press('Shift+Tab');
    expect(await isIn('.graphiql-query-editor .CodeMirror')).toBe(true);
    await press('Shift+Tab');
    expect(await focused()).toBe('New tab');
    expect(problems).toEqual([]);
  });

  test.each(inFull([DESKTOP, PHONE], [PHONE]))(
    'at $width×$height what one has written is shown as code, shared and tabled',
    async (viewport) => {
      const query = `# secret\nquery Find($text: String) {
  instruments(first: 2, filter: { search: $text }) { totalCount nodes { id symbol name } }
  other: instrument(id: "secret") { id }
}`;
      await using opened = await open({ viewport }, `#${linkOf(query, { text: 'apple' })}`);
      const { page, problems, run, summary } = opened;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const copied = async () => {
        await page.getByRole('button', { name: 'Copy', exact: true }).click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        return page.evaluate<string>('navigator.clipboard.readText()');
      };
      const look = () => expectFlawless(page);
      await page.getByRole('button', { name: 'Show as code' }).click();
      const dialog = page.getByRole('dialog', { name: 'This operation as code' });
      await dialog.getByText(`${app.url}/graphql`).waitFor();
      await look();
      await dialog.getByRole('tab', { name: 'curl' }).focus();
      const tabs = await dialog.getByRole('tab').allInnerTexts();
      expect(tabs).toEqual(expect.arrayContaining(['urql', 'Apollo Kotlin', 'Apollo iOS']));
      for (const name of [...tabs.slice(1), 'curl']) {
        await page.keyboard.press('ArrowRight');
        const code = await dialog.getByRole('tabpanel', { name, exact: true }).innerText();
        expect(code).toContain('$TOKEN');
        expect(code).not.toContain('eyJ');
      }
      expect(await copied()).toContain('"variables":{"text":"apple"}');
      await page.getByRole('button', { name: 'Copy token' }).click();
      await page.getByRole('button', { name: 'Copied' }).nth(1).waitFor();
      const token = await page.evaluate<string>('navigator.clipboard.readText()');
      expect((await app.query('{ customerId }', { token })).errors).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });

      await page.getByRole('button', { name: 'Share a link' }).click();
      await page.getByRole('dialog', { name: 'A link to this operation' }).waitFor();
      await look();
      const shared = await copied();
      expect(shared).toMatch(new RegExp(`^${app.url}/graphql#query=`));
      expect(decodeURIComponent(shared)).not.toMatch(/secret|apple|variables/);
      await page.getByRole('button', { name: 'Close', exact: true }).click();

      await run();
      await summary.getByText('200 OK').waitFor();
      await page.getByRole('button', { name: 'Table' }).click();
      const table = page.getByRole('table', { name: /^instruments\.nodes: \d rows?$/ });
      expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
        'id',
        'symbol',
        'name',
      ]);
      expect(await table.innerText()).toContain('Apple Inc.');
      await look();
      expect(problems).toEqual([]);
    },
  );
});
