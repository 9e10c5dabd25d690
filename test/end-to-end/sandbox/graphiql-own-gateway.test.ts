import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CONFIRMED_FIELDS } from '../../../src/graphiql/page/examples.js';
import { startTestApp } from '../../support/app.ts';
import { expectFlawless, waitForGraphiQL } from '../../support/browser-page.ts';
import { DESKTOP, PHONE } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { inFull } from '../../support/in-full.ts';
import { newKey } from '../../support/order-keys.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

/** Mutations that need no confirmation: they neither trade nor change a payout or a password. */
const UNCONFIRMED_FIELDS = [
  'login',
  'newOrderKey',
  'voidOrder',
  'setValue',
  'markNotificationsRead',
  'registerDevice',
];

const ORDER = `placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${newKey()}" }) { __typename }`;

describeInBrowser('GraphiQL in front of a gateway of its own', (browser) => {
  /** Only the sandbox gateway of this service is used. The tested service treats that gateway as a real gateway. */
  const gateway = sharedApp();
  const app = startedOnce(() =>
    startTestApp(
      { GRAPHIQL: 'on', AUTH_COOKIE: 'session', LOGIN_LIMIT_PER_MINUTE: '1000' },
      { gateway: gateway.sandbox },
    ),
  );

  const open = (query: string | null = null, viewport = DESKTOP) => {
    const fragment = query === null ? '' : `#${linkOf(query)}`;
    return openGraphiql(browser, app.url, fragment, { viewport });
  };
  const confirmation = (page: Page) => page.getByRole('dialog', { name: /^Send / });
  const signIn = async (page: Page, password = 'demo') => {
    await page.locator('#account-state').click();
    await page.getByLabel('Email').fill('demo@example.com');
    await page.getByLabel('Password').fill(password);
    await page.locator('#sign-in').getByRole('button', { name: 'Sign in' }).click();
  };

  test.each(inFull([DESKTOP, PHONE], [PHONE]))(
    'at $width×$height a user can sign in with their own account until the page is left',
    async (viewport) => {
      await using opened = await open('{ customerId }', viewport);
      const { page, problems, run, result } = opened;
      const tabs = await page.locator('.graphiql-tab-button').allInnerTexts();
      expect(tabs).toContain('Home');
      expect(tabs).not.toContain('Buy');
      await signIn(page, 'wrong');
      await page.getByText('Signing in as demo@example.com failed').waitFor();
      await expectFlawless(page);
      await page.getByLabel('Password').fill('demo');
      await page.keyboard.press('Enter');
      await page.getByText(/^Signed in until /).waitFor();
      await run();
      await result.getByText('cus_700001').waitFor();
      // Neither the token nor the email is stored.
      const stored = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
      );
      expect(stored).not.toMatch(/eyJ|demo@example\.com/);
      await page.locator('#account-state').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.locator('#account-state').click();
      await run();
      await result.getByText('UNAUTHENTICATED').waitFor();
      await page.reload();
      await waitForGraphiQL(page);
      expect(await page.locator('#account-state').innerText()).toBe('Sign in');
      expect(problems).toEqual([]);
    },
  );

  test('a token that has ended is reported', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.locator('#account-state').click();
    const token = gateway.sandbox.token({ email: 'demo@example.com', expiresInSeconds: -86_400 });
    await page.getByLabel('Or a token').fill(token);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByText(/^Token expired .*20\d\d/).waitFor();
  });

  test('a sign-in that a later token has superseded is not used', async () => {
    await using opened = await open('{ session { login } }');
    const { page, run, result } = opened;
    gateway.sandbox.fail({ operation: 'login', kind: 'delay', delayMs: 1_000, times: 1 });
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await signIn(page);
    const token = gateway.sandbox.token({ email: 'pro@example.com' });
    await page.getByLabel('Or a token').fill(token);
    await page.getByRole('button', { name: 'Use it' }).click();
    await (await answered).finished();
    await page.locator('#account-state').click();
    await run();
    await result.getByText('700002').waitFor();
  });

  test('a subscription without a sign-in does not use the cookie of the page’s visitor', async () => {
    await using opened = await open('subscription { positionChanges { cursor } }');
    const { page, run, stop, result } = opened;
    const input = { email: 'demo@example.com', password: 'demo' };
    const login = 'mutation ($input: LoginInput!) { login(input: $input) { __typename } }';
    await page.evaluate(
      ([body]) =>
        fetch('graphql', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      [JSON.stringify({ query: login, variables: { input } })] as const,
    );
    expect(await page.context().cookies(`${app.url}/graphql`)).toMatchObject([{ name: 'session' }]);
    await run();
    await result.getByText('UNAUTHENTICATED').waitFor();
    await signIn(page);
    await page.getByText(/^Signed in until/).waitFor();
    await run();
    await result.getByText('"cursor"').waitFor();
    await stop();
  });

  test('an order is sent only after a confirmation, whatever the document looks like', async () => {
    await using opened = await open();
    const { page, run, result } = opened;
    await signIn(page);
    await page.getByText(/^Signed in until/).waitFor();
    for (const [index, query] of [
      `mutation { ${ORDER} }`,
      `mutation { harmless: ${ORDER} }`,
      `mutation { ...F } fragment F on Mutation { ${ORDER} }`,
      `# don"t\nmutation M { ${ORDER} } # "`,
      `mutation { # note\r${ORDER} }`,
      `mutation A { ${ORDER.replace('__typename', '...query A: __typename')} } fragment query on OrderOutcome { __typename }`,
      `query Q { customerId } mutation M { ${ORDER} }`,
    ].entries()) {
      // The query is typed into an empty tab.
      await page.getByRole('button', { name: 'New tab' }).click();
      await page.locator('.graphiql-query-editor .CodeMirror').click();
      await page.keyboard.insertText(query);
      if (query.startsWith('query Q')) {
        // GraphiQL offers a choice of several operations once it has parsed them.
        await page
          .locator('.graphiql-tab-active')
          .getByText(/^[QM]$/)
          .waitFor();
        await run();
        await page.getByRole('menuitem', { name: 'M' }).click();
      } else {
        await run();
      }
      await confirmation(page).waitFor();
      expect(await confirmation(page).innerText()).toContain(new URL(app.url).host);
      const isFirst = index === 0;
      if (isFirst) await expectFlawless(page, { include: ['#confirmation'] });
      if (index % 2 === 0) await page.keyboard.press('Escape');
      else await page.getByRole('button', { name: 'Do not send' }).click();
      await result.getByText('It was not sent.').waitFor();
      expect(gateway.sandbox.orders(), query).toHaveLength(isFirst ? 0 : 1);
      // Only the first order is sent after all.
      if (!isFirst) continue;
      await run();
      await page.getByRole('button', { name: 'Send it' }).click();
      await result.getByText('OrderAccepted').waitFor();
    }
    expect(gateway.sandbox.orders()).toHaveLength(1);
  });

  test('each mutation field needs a confirmation, or is known to be harmless', async () => {
    const { data } = await app.query('{ __schema { mutationType { fields { name } } } }');
    const names = data.__schema.mutationType.fields.map(({ name }: { name: string }) => name);
    expect([...CONFIRMED_FIELDS, ...UNCONFIRMED_FIELDS].sort()).toEqual(names.sort());
  });
});
