import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { exampleApp } from '../support/example-app.ts';

const DEMO = 700_001;
const KEPT = 'app:trading-graph:entry:trading-graph:account';

declare global {
  /** The parts that the stand-ins for React Native's modules leave to the test. */
  interface Window {
    prompts: number;
    showApp(state: 'active' | 'background'): void;
  }
}

describeWithChromium(
  'examples/expo, with elements of a page for those of a phone',
  (executablePath) => {
    const app = exampleApp({ folder: 'client/test/examples/expo-page', executablePath });
    const sandbox = () => app.facade.sandbox;
    const signIns = () => sandbox().calls('login');
    const status = (page: Page, wanted: RegExp) =>
      page.getByTestId('status').filter({ hasText: wanted }).waitFor();
    const prompts = (page: Page) => page.evaluate(() => window.prompts);
    const show = (page: Page, state: 'active' | 'background') =>
      page.evaluate((given) => window.showApp(given), state);
    const tap = (page: Page, name: string) => page.getByRole('button', { name }).click();
    const form = (page: Page) => page.getByLabel('Password').waitFor();

    async function signedIn() {
      const page = await app.open();
      await tap(page, 'Sign in');
      await status(page, /^Live$/);
      return page;
    }

    // Before any order: the sandbox is set back after each test, while the service may show for a moment what it had.
    test('starts without a network with the account as it was, and places nothing then', async () => {
      const page = await signedIn();
      const kept = () => page.evaluate((key) => localStorage.getItem(key), KEPT);
      await eventually(async () => (await kept()) !== null);
      await app.line.refuse();
      await page.reload();
      await status(page, /^No connection, as of /);
      expect(await page.getByTestId('position').count()).toBe(6);
      await page.context().setOffline(true);
      await tap(page, 'Buy');
      await page.getByText('Not placed. Nothing was bought or sold.').waitFor();
      expect(sandbox().orders()).toHaveLength(0);
      await app.line.heal();
      await page.context().setOffline(false);
      await status(page, /^Live$/);
    });

    test('signs in, follows the account, and places an order to its end', async () => {
      const page = await app.open();
      await page.getByLabel('Password').fill('wrong');
      await tap(page, 'Sign in');
      await page.getByRole('alert').waitFor();
      await page.getByLabel('Password').fill('demo');
      await tap(page, 'Sign in');
      await status(page, /^Live$/);
      expect(await page.getByTestId('equity').textContent()).toMatch(/^\d+\.\d\d USD$/);
      const rows = page.getByTestId('position');
      expect(await rows.count()).toBe(6);
      const outcome = page.getByTestId('outcome');
      await tap(page, 'Buy');
      await outcome.filter({ hasText: /^Done: order \d+/ }).waitFor();
      await eventually(async () => expect(await rows.count()).toBe(7));
      for (const [symbol, said] of [
        ['TEST.REJECT', /Nothing was traded/],
        ['TEST.UNKNOWN', /^We have no confirmation/],
      ] as const) {
        await tap(page, 'New order');
        await page.getByLabel('Symbol').fill(symbol);
        await tap(page, 'Sell');
        await outcome.filter({ hasText: said }).waitFor();
      }
      // A start without a network, which asks in vain whose the orders are: three tries, and then others.
      let failed = 0;
      page.on('requestfailed', (request) => {
        if (request.postData()?.includes('TradingGraphAccount')) failed += 1;
      });
      await app.line.refuse();
      await page.reload();
      await eventually(() => expect(failed).toBeGreaterThan(3));
      await app.line.heal();
      await page.getByTestId('earlier').filter({ hasText: 'unknown' }).waitFor();
      await tap(page, 'I have looked');
      await page.getByTestId('earlier').waitFor({ state: 'detached' });
      expect(sandbox().orders()).toHaveLength(2);
      await tap(page, 'Sign out');
      await form(page);
    });

    test('a token that ends is replaced in silence, in the background too, after one finger a run', async () => {
      const page = await signedIn();
      for (const state of ['active', 'background'] as const) {
        await show(page, state);
        const before = signIns();
        sandbox().revoke({ login: DEMO });
        await eventually(() => expect(signIns()).toBe(before + 1));
        await status(page, /^Live$/);
      }
      expect(await prompts(page)).toBe(0);
      sandbox().revoke({ login: DEMO });
      await page.reload();
      await status(page, /^Live$/);
      sandbox().revoke({ login: DEMO });
      const before = signIns();
      await eventually(() => expect(signIns()).toBe(before + 1));
      await status(page, /^Live$/);
      expect(await prompts(page)).toBe(1);
    });

    test('who gives no finger stays signed in behind a button, and is not asked again and again', async () => {
      const page = await signedIn();
      await page.evaluate(() => localStorage.setItem('finger', 'another'));
      sandbox().revoke({ login: DEMO });
      await page.reload();
      await page.getByRole('button', { name: 'Unlock to go on' }).waitFor();
      expect(await prompts(page)).toBe(1);
      await page.evaluate(() => localStorage.removeItem('finger'));
      await tap(page, 'Unlock to go on');
      await status(page, /^Live$/);
      expect(await prompts(page)).toBe(2);
    });

    test('credentials that the server refuses sign the user out', async () => {
      const page = await signedIn();
      sandbox().fail({ operation: 'login', kind: 'status', status: 401 });
      sandbox().revoke({ login: DEMO });
      await form(page);
      expect(await page.evaluate(() => Object.keys(localStorage).join())).not.toContain('session');
      sandbox().clearFaults();
      await tap(page, 'Sign in');
      await status(page, /^Live$/);
    });
  },
);
