import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { overflowsSideways } from '../../../test/support/browser-page.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { exampleApp } from '../support/example-app.ts';
import { holdRenewal, interceptSignIn } from '../support/hold-renewal.ts';

const folder = 'examples/apollo-react';
const gain = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  signDisplay: 'exceptZero',
});

describeWithChromium('the example of Apollo Client and React', (executablePath) => {
  const app = exampleApp({ folder, executablePath, nodeEnvironment: 'development' });

  const tap = (page: Page, name: string) => page.getByRole('button', { name }).click();
  const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor();

  /** The list that is shown is the gateway's own. */
  async function agrees(page: Page): Promise<void> {
    await eventually(async () => {
      const token = app.facade.sandbox.token({ email: 'demo@example.com' });
      const { data } = await app.facade.query('{ positions { id symbol profit } }', { token });
      const rows = data.positions.map(
        ({ symbol, profit }: { symbol: string; profit: number }) =>
          `${symbol} ${gain.format(profit)}`,
      );
      expect(await shownRows(page)).toEqual(rows);
    });
  }

  async function choose(page: Page, symbol: string): Promise<void> {
    await page.getByLabel('Instrument').fill(symbol);
    await page.getByRole('button', { name: new RegExp(`^${symbol}`) }).click();
  }
  async function order(page: Page, symbol: string): Promise<void> {
    await choose(page, symbol);
    await page.getByRole('heading', { name: symbol }).waitFor();
    await tap(page, 'Place order');
  }

  test('follows the market through a line that is cut, and shows each outcome of an order, on a narrow screen', async () => {
    const page = await app.open({ width: 390, height: 844 });
    let events = 0;
    let released = Promise.resolve();
    await page.routeWebSocket(/graphql/, (line) => {
      line.connectToServer().onMessage(async (message) => {
        if (String(message).includes('"next"')) {
          events += 1;
          await released;
        }
        line.send(message);
      });
    });
    await page.reload();
    await tap(page, 'Sign in');
    await live(page);
    expect(await overflowsSideways(page)).toBe(false);
    await app.line.refuse();
    await page.getByText('Offline').waitFor();
    app.facade.sandbox.tick(5);
    // A line that is there again has no event yet.
    const { promise, resolve } = Promise.withResolvers<void>();
    released = promise;
    const before = events;
    await app.line.heal();
    await eventually(() => events > before);
    expect(await page.getByText('Offline').count()).toBe(1);
    resolve();
    await live(page);
    await agrees(page);
    await order(page, 'MSFT');
    await page.getByText(/^Accepted/).waitFor();
    await agrees(page);
    await tap(page, 'Another order');
    await order(page, 'TEST.REJECT');
    await page.getByText(/^Refused/).waitFor();
    await tap(page, 'Another order');
    await order(page, 'TEST.UNKNOWN');
    const unknown = page.getByText('It may have been carried out');
    await unknown.waitFor();
    // Another instrument is no other order.
    await choose(page, 'AAPL');
    await unknown.waitFor();
    expect(await page.getByRole('heading', { name: 'TEST.UNKNOWN' }).count()).toBe(1);
    expect(await overflowsSideways(page)).toBe(false);
    const sent = () => app.facade.sandbox.orders().length;
    const placed = sent();
    await tap(page, 'Ask again');
    await page.getByRole('button', { name: 'Ask again' }).waitFor();
    expect(sent()).toBe(placed);
    await tap(page, 'Another order');
    await app.line.refuse();
    await tap(page, 'Place order');
    await page.getByText(/^No answer yet/).waitFor();
    await app.line.heal();
    await page.getByText(/^Accepted/).waitFor();
    expect(sent()).toBe(placed + 1);
    await page.reload();
    await tap(page, 'Sign in');
    await page.getByText('An earlier order: unknown').waitFor();
    await tap(page, 'I have looked');
    await page.getByText('An earlier order').waitFor({ state: 'detached' });
  });

  test('renews its token, later where there is no network, and asks for a sign-in where that is refused', async () => {
    const page = await app.open();
    const { sandbox } = app.facade;
    await tap(page, 'Sign in');
    await live(page);
    const signIns = sandbox.calls('login');
    const unreached = await interceptSignIn(page);
    sandbox.revoke({ login: 700_001 });
    await eventually(() => unreached.length === 1);
    await unreached[0]?.abort();
    await eventually(() => expect(sandbox.calls('login')).toBe(signIns + 1));
    await live(page);
    await agrees(page);
    sandbox.fail({ operation: 'login', kind: 'status', status: 401, body: { error: 'locked' } });
    sandbox.revoke({ login: 700_001 });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('alert').waitFor();
    sandbox.clearFaults();
    // The next account sees nothing of the former one, also before anything of its own has come.
    app.line.swallowUpgrades();
    await page.getByLabel('E-mail').fill('fresh@example.com');
    await tap(page, 'Sign in');
    await page.getByText('Waiting for the first list').waitFor();
    app.line.releaseUpgrades();
    await page.getByText('No open positions').waitFor();
    await tap(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('a renewal that is answered late signs in nobody who has signed out', async () => {
    const page = await app.open();
    await tap(page, 'Sign in');
    await live(page);
    const renewal = await holdRenewal(page, app.facade.sandbox);
    await tap(page, 'Sign out');
    await renewal.answer();
    await page.getByLabel('E-mail').fill('fresh@example.com');
    await tap(page, 'Sign in');
    await page.getByText('No open positions').waitFor();
  });
});

async function shownRows(page: Page): Promise<readonly string[]> {
  const symbols = await page.locator('.rows li strong').allInnerTexts();
  const profits = await page.locator('.rows li span.figure').allInnerTexts();
  return symbols.map((symbol, at) => `${symbol} ${profits[at]}`);
}
