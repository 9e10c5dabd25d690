import { expect, test } from 'vitest';
import { describeWithAlertmanager } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { startAlertmanager } from './support/alertmanager.ts';

/** Waits of half a minute take a second. */
const HASTENED_BY = 30;

describeWithAlertmanager('the routes', (alertmanagerPath) => {
  const page = (alertname: string, job?: string) => ({
    labels: { alertname: `TradingGraph${alertname}`, severity: 'page', ...(job && { job }) },
  });
  const ours = (alertname: string) => page(alertname, 'trading-graph');
  const lately = { labels: { ...ours('StoreLately').labels, severity: 'none' } };

  test.each([
    [[ours('BudgetBurn'), ours('Orders'), ours('GatewayUnreachable')], ['GatewayUnreachable']],
    [[ours('BudgetBurn'), ours('Orders')], ['Orders']],
    [[ours('BudgetBurn')], ['BudgetBurn']],
    // One replica is no cause of what many clients see. Nor is a store that will be full: only one that refuses orders is.
    [
      [ours('MemoryShort'), ours('LiveDelayed')],
      ['LiveDelayed', 'MemoryShort'],
    ],
    [
      [ours('StoreAway'), ours('Orders')],
      ['Orders', 'StoreAway'],
    ],
    [[ours('StoreAway'), ours('Orders'), lately], ['StoreAway']],
    // An unreachable front proxy has no job, and hides every other page.
    [[ours('GatewayUnreachable'), page('FrontDoor')], ['FrontDoor']],
    // Alerts of another installation hide nothing here.
    [
      [ours('Orders'), page('GatewayUnreachable', 'trading-graph-of-others')],
      ['GatewayUnreachable', 'Orders'],
    ],
  ])('page for the cause of what fires together (%#)', async (alerts, wanted) => {
    await using alertmanager = await startAlertmanager(alertmanagerPath, HASTENED_BY);
    // Somebody has to settle each of these orders, so that nothing hides this ticket.
    const unknown = 'TradingGraphOrderUnknown';
    const ticket = { labels: { alertname: unknown, severity: 'ticket', job: 'trading-graph' } };
    const { ok } = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([...alerts, ticket]),
    });
    expect(ok).toBe(true);
    const names = wanted.map((name) => `TradingGraph${name}`);
    // Tickets wait longer than pages do, so all pages are out.
    await eventually(() => alertmanager.tickets.size > 0);
    expect([...alertmanager.tickets]).toEqual([unknown]);
    expect([...alertmanager.pages].toSorted()).toEqual(names);
  });
});
