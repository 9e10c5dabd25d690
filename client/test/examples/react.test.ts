import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { overflowsSideways, violations } from '../../../test/support/browser-page.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { exampleApp } from '../support/example-app.ts';

const DEMO = 700_001;

describeWithChromium('examples/react', (executablePath) => {
  const app = exampleApp({ folder: 'examples/react', executablePath });
  const sandbox = () => app.facade.sandbox;

  const tap = (page: Page, name: string) => page.getByRole('button', { name }).click();
  async function signIn(): Promise<Page> {
    const page = await app.open();
    await tap(page, 'Sign in');
    await isLive(page);
    return page;
  }
  const status = (page: Page, wanted: string) =>
    page.locator(`.status[data-status=${wanted}]`).waitFor();
  const isLive = (page: Page) => status(page, 'LIVE');
  const profits = (page: Page) => page.locator('.rows .profit').allTextContents();

  async function moves(page: Page): Promise<void> {
    const before = await profits(page);
    await eventually(async () => {
      sandbox().tick();
      return (await profits(page)).join() !== before.join();
    });
  }
  async function order(page: Page, symbol: string): Promise<void> {
    await page.getByRole('searchbox').fill(symbol);
    await page.locator('.found').getByText(symbol, { exact: true }).click();
    await tap(page, `BUY 1 ${symbol}`);
  }
  const outcome = (page: Page) => page.locator('.trade .outcome');
  // The match is case-sensitive: TEST.UNKNOWN is on the page as soon as the order is sent.
  const outcomeIs = (page: Page, heading: string) =>
    outcome(page)
      .getByText(new RegExp(`^${heading}: `))
      .waitFor();

  test('the page shows why a sign-in was refused, how positions move, and a lost connection', async () => {
    const page = await app.open();
    await page.getByLabel('Password').fill('wrong');
    await tap(page, 'Sign in');
    expect(await page.getByRole('alert').textContent()).toMatch(/./);
    await page.getByLabel('Password').fill('demo');
    await tap(page, 'Sign in');
    await isLive(page);
    expect(await page.locator('.rows li').count()).toBe(6);
    await moves(page);
    await app.line.refuse();
    await status(page, 'OFFLINE');
    expect(await page.locator('.status').textContent()).toContain('As of');
    expect(await profits(page)).toHaveLength(6);
    await app.line.heal();
    await isLive(page);
    await moves(page);
  });

  test('a refused token shows the sign-in form, and no password is sent again without the user', async () => {
    const page = await signIn();
    const before = sandbox().calls('login');
    sandbox().revoke({ login: DEMO });
    await page.getByLabel('Password').waitFor();
    expect(sandbox().calls('login')).toBe(before);
    await tap(page, 'Sign in');
    await isLive(page);
    await moves(page);
  });

  test('a double click places one order, and after a reload only its own user finds an unknown order again', async () => {
    const page = await signIn();
    await page.getByRole('button', { name: 'BUY 1 AAPL' }).dblclick();
    await outcome(page).getByText('Accepted: BUY 1 AAPL').waitFor();
    await eventually(async () => expect(await page.locator('.rows li').count()).toBe(7));
    expect(sandbox().orders()).toHaveLength(1);
    await tap(page, 'New order');
    await order(page, 'TEST.UNKNOWN');
    await outcomeIs(page, 'Unknown');
    await tap(page, 'Sign out');
    await page.getByLabel('E-mail').fill('fresh@example.com');
    await tap(page, 'Sign in');
    await page.getByText('No open positions').waitFor();
    expect(await page.locator('.outcome').allTextContents()).toEqual(['']);
    await page.reload();
    await tap(page, 'Sign in');
    await page.getByText('An earlier order: unknown').waitFor();
    await tap(page, 'I have looked');
    await page.getByText('An earlier order').waitFor({ state: 'detached' });
    await page.reload();
    await tap(page, 'Sign in');
    await isLive(page);
    await page.locator('.found li').first().waitFor();
    expect(await page.getByText('An earlier order').count()).toBe(0);
    expect(sandbox().orders()).toHaveLength(2);
  });

  test.each([
    [390, 844, 'dark'],
    [1280, 800, 'light'],
  ] as const)(
    'at %i by %i in the %s theme nothing overflows, and axe finds no violation',
    async (width, height, theme) => {
      const page = await app.open({ width, height, theme });
      const fits = async (step: string) => {
        await page.evaluate(() => {
          for (const animation of document.getAnimations()) animation.finish();
        });
        const found = [step, await overflowsSideways(page), await violations(page)];
        expect(found).toEqual([step, false, []]);
      };
      await fits('sign-in');
      await tap(page, 'Sign in');
      await isLive(page);
      await fits('positions');
      await page.locator('.found li').first().waitFor();
      await fits('trade');
      for (const [symbol, heading] of [
        ['TEST.UNKNOWN', 'Unknown'],
        ['TEST.REJECT', 'Rejected'],
        ['AAPL', 'Accepted'],
      ] as const) {
        await order(page, symbol);
        await outcomeIs(page, heading);
        await fits(heading);
        await tap(page, 'new order');
      }
    },
  );
});
