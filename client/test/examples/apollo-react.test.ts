import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflowsSideways } from '../../../test/support/browser-page.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { exampleApp } from '../support/example-app.ts';
import { runTool } from '../support/run-tool.ts';

const root = join(import.meta.dirname, '..', '..', '..');
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

  async function signedIn(view = {}) {
    const page = await app.open(view);
    await tap(page, 'Sign in');
    await live(page);
    return page;
  }

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

  async function order(page: Page, symbol: string): Promise<void> {
    await page.getByLabel('Instrument').fill(symbol);
    await page.getByRole('button', { name: new RegExp(`^${symbol}`) }).click();
    await page.getByRole('heading', { name: symbol }).waitFor();
    await tap(page, 'Place order');
  }

  test('follows the market, through a line that is cut', async () => {
    const page = await signedIn();
    await agrees(page);
    app.facade.sandbox.tick(5);
    await agrees(page);
    await app.line.refuse();
    await page.getByText('Offline').waitFor();
    app.facade.sandbox.tick(5);
    await app.line.heal();
    await live(page);
    await agrees(page);
  });

  test('shows the three outcomes of an order, and why one was not placed, on a narrow screen', async () => {
    const page = await signedIn({ width: 390, height: 844 });
    expect(await overflowsSideways(page)).toBe(false);
    await order(page, 'MSFT');
    await page.getByText(/^Accepted/).waitFor();
    await agrees(page);
    await order(page, 'TEST.REJECT');
    await page.getByText(/^Refused/).waitFor();
    await order(page, 'TEST.UNKNOWN');
    await page.getByText('It may have been carried out').waitFor();
    expect(await overflowsSideways(page)).toBe(false);
    const sent = () => app.facade.sandbox.orders().length;
    const before = sent();
    await tap(page, 'Ask again');
    await page.getByRole('button', { name: 'Ask again' }).waitFor();
    expect(sent()).toBe(before);
    await tap(page, 'Another order');
    await app.line.refuse();
    await tap(page, 'Place order');
    await page.getByText(/^No outcome yet/).waitFor();
    await app.line.heal();
    await tap(page, 'Try again');
    await page.getByText('It may have been carried out').waitFor();
    expect(sent()).toBe(before + 1);
  });

  test('renews its token, and asks for a sign-in where that fails', async () => {
    const page = await signedIn();
    const { sandbox } = app.facade;
    const signIns = sandbox.calls('login');
    const revoke = () => sandbox.revoke({ login: 700_001 });
    revoke();
    await eventually(() => sandbox.calls('login') === signIns + 1);
    await live(page);
    await agrees(page);
    sandbox.fail({ operation: 'login', kind: 'status', status: 401, body: { error: 'locked' } });
    revoke();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('alert').waitFor();
    sandbox.clearFaults();
    await tap(page, 'Sign in');
    await live(page);
    await tap(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

describe('the example of Apollo Client and React', () => {
  test('has the types that the generator makes of the schema', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'codegen-'));
    try {
      const example = join(copy, folder);
      cpSync(join(root, folder), example, {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
      cpSync(join(root, 'schema.graphql'), join(copy, 'schema.graphql'));
      symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
      rmSync(join(example, 'src/gql'), { recursive: true });
      await runTool('@graphql-codegen/cli/cjs/bin.js', [], example);
      const files = readdirSync(join(example, 'src/gql'));
      expect(files).toEqual(readdirSync(join(root, folder, 'src/gql')));
      for (const file of files) {
        const path = join('src/gql', file);
        const fresh = readFileSync(join(example, path), 'utf8');
        expect(readFileSync(join(root, folder, path), 'utf8'), path).toBe(fresh);
      }
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});

async function shownRows(page: Page): Promise<readonly string[]> {
  const rows = await page.locator('.rows li').all();
  return Promise.all(
    rows.map(async (row) => {
      const [symbol, profit] = await Promise.all([
        row.locator('strong').innerText(),
        row.locator('span.figure').innerText(),
      ]);
      return `${symbol} ${profit}`;
    }),
  );
}
