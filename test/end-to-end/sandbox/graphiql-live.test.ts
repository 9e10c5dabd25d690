import { expect, test } from 'vitest';
import { buying } from '../../support/buying.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/leaks.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { linkOf, openGraphiql } from './graphiql-visit.ts';

const POSITIONS = 'subscription Live { positions { id } }';

describeInBrowser('GraphiQL and subscriptions', (browser) => {
  const app = sharedApp({ POSITIONS_POLL_MS: '100' });
  const open = (query: string, options = {}) =>
    openGraphiql(browser, app.url, `#${linkOf(query)}`, options);

  test('each event replaces the event before it until the subscription is stopped', async () => {
    await using opened = await open(POSITIONS);
    const { result, run, stop, summary, problems } = opened;
    await run();
    await summary.getByText('Streaming').waitFor();
    const document = buying('live', '... on OrderAccepted { orderId }');
    const { data } = await app.query(document, { token: await app.signIn() });
    await result.getByText(String(data.placeOrder.orderId)).waitFor();
    await summary.getByText(/^\d+ events$/).waitFor();
    await stop();
    await summary.getByText('Stopped').waitFor();
    await result.getByText(String(data.placeOrder.orderId)).waitFor();
    // The market stands still, so no event comes that would end it at the server.
    await eventually(async () =>
      expect(await readMetrics(app.adminUrl)).toMatch(/^trading_graph_subscriptions 0$/m),
    );
    expect(problems).toEqual([]);
  });

  test('each subscription belongs to the user selected at its start', async () => {
    await using opened = await open(POSITIONS);
    const { page, result, run, stop } = opened;
    await page.getByLabel('User').selectOption('fresh@example.com');
    await run();
    await result.getByText('"positions": []').waitFor();
    await stop();
    await page.getByLabel('User').selectOption('pro@example.com');
    await run();
    await result.getByText('700002001').waitFor();
    await stop();
    await page.getByLabel('User').selectOption('');
    await run();
    await result.getByText('UNAUTHENTICATED').waitFor();
  });
});
