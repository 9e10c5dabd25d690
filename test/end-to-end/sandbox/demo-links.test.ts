import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithChromium } from '../../support/describe-with.ts';
import { DESKTOP, visit } from './demo-visit.ts';

describeWithChromium('from the demonstration page', (executablePath) => {
  let browser: Browser;
  let app: TestApp;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    app = await startTestApp();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  test('links to GraphiQL with the operation in the tab that is shown', async () => {
    await using visitor = await visit(browser, app.url, { size: DESKTOP });
    const { page } = visitor;
    const opening = page.context().waitForEvent('page');
    await page.locator('#search-code').getByRole('link', { name: 'Open in GraphiQL' }).click();
    const graphiql = await opening;
    await graphiql.getByRole('button', { name: /execute query/i }).click();
    await graphiql.locator('.result-window').getByText('"totalCount"').waitFor();
    expect(await graphiql.locator('.result-window').innerText()).toContain('MSFT');
  });

  test('is reached by the keyboard: first the way past the header, then the controls', async () => {
    await using visitor = await visit(browser, app.url, { size: DESKTOP });
    const { page } = visitor;
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('To the panels');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Measure again');
    await page.keyboard.press('Enter');
    // The button keeps the focus while it is busy.
    expect(await focused()).toBe('Measure again');
  });
});
