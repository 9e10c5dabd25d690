import { afterEach, beforeEach, expect, test } from 'vitest';
import { PHONE, type VisitOptions, visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { sharedApp } from '../../support/shared-app.ts';

const CONNECTION_ERROR = /ERR_(?:CONNECTION|EMPTY|SOCKET|INCOMPLETE)|WebSocket connection to/;
const TIME = '\\d\\d:\\d\\d:\\d\\d';

describeInBrowser('the demonstration page', (browser) => {
  const app = sharedApp({ SANDBOX_TICK_MS: '200', LOGIN_LIMIT_PER_MINUTE: '1000' });
  beforeEach(() => fetch(`${app.url}/sandbox/reset`, { method: 'POST' }));
  afterEach(() => app.sandbox.clearFaults());

  const open = async (options: VisitOptions = {}, search = '') => {
    const visitor = await visit(browser, `${app.url}/${search}`, options);
    await visitor.unfoldWhenLive();
    return visitor;
  };

  test('places one order by one tap or by two, and shows when its outcome is unknown', async () => {
    await using visitor = await open();
    const { page, waitForText } = visitor;
    await visitor.click('Buy 1');
    await waitForText('order-title', /^Accepted$/);
    await waitForText('order-details', /Orders at the gateway1$/);
    await visitor.waitForRows(7);
    await visitor.click('Double tap');
    await waitForText('order-details', /Taps2.*Orders at the gateway1$/);
    await waitForText('order-title', /^Accepted$/);
    await visitor.waitForRows(8);
    await page.getByRole('radio', { name: /loses the answer/ }).check({ force: true });
    await visitor.click('Buy 1');
    await waitForText('order-title', /^Unknown$/);
    await waitForText('announcer', /^Order: Unknown/);
    await visitor.expectFlawless();
  });

  test('cuts the connection of both apps during an order, which makes two positions over REST and one over the graph', async () => {
    await using visitor = await open({ forcedColors: 'active' });
    const { page, waitForText } = visitor;
    const before = app.sandbox.calls('openPosition');
    await visitor.click('Place it in both apps');
    await waitForText(
      'lost-verdict',
      /^REST’s repeat makes 2 positions of one order; the graph’s makes 1: /,
    );
    expect(await page.locator('#lost-rows tr').allInnerTexts()).toEqual([
      'Sent by the app\t2 ×\t2 ×',
      'Outcome in the app\taccepted\taccepted',
      'Orders at the gateway\t2\t1',
      'New positions\t2\t1',
    ]);
    expect(app.sandbox.calls('openPosition') - before).toBe(3);
    await visitor.waitForRows(9);
    await visitor.expectFlawless();
  });

  test('follows the account after its socket was killed', async () => {
    await using visitor = await open({ isExpected: (problem) => CONNECTION_ERROR.test(problem) });
    const { page, waitForText } = visitor;
    await visitor.waitForRows(6);
    await visitor.click('Kill the socket');
    await waitForText('announcer', /^Account LIVE/);
    await page.locator('#live .live-status[data-status=LIVE]').waitFor();
    await visitor.expectSound();
  });

  test('shows what each app shows during a fault and after its end', async () => {
    await using visitor = await open({ viewport: PHONE, isExpected: () => true });
    const { page, waitForText } = visitor;
    await page.locator('#outages button', { hasText: 'Gateway down' }).click();
    const verdict = (tense: string) =>
      `REST ${tense} 0 of 5 parts; the graph ${tense} 4 of 5 parts, no payout(?:, prices of ${TIME})?(?:, equity of ${TIME})?\\.$`;
    await waitForText(
      'outage-verdict',
      new RegExp(`^Gateway down, since ${TIME}: ${verdict('shows')}`),
    );
    await visitor.click('Place it in both apps');
    await page.locator('#lost .problem').getByText('The gateway does not answer.').waitFor();
    await waitForText('lost-verdict', /^$/);
    const times = `${TIME} to ${TIME}`;
    await waitForText(
      'outage-verdict',
      new RegExp(`^Gateway down, ${times}: ${verdict('showed')}`),
    );
    await waitForText('screen-verdict', /^Both phones show the same 6 positions/);
  });

  test('shows the account that the link from GraphiQL names', async () => {
    await using visitor = await open({}, '?user=pro@example.com');
    await visitor.waitForText('who', /^pro@example\.com$/);
    await visitor.waitForRows(25);
  });
});
