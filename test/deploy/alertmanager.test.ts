import { expect, test } from 'vitest';
import { describeWithAlertmanager } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { startAlertmanager } from './support/alertmanager.ts';

/** With this factor a wait of half a minute takes a second. */
const SPEED_UP = 30;

describeWithAlertmanager('the routes', (alertmanagerPath) => {
  const page = (alertname: string, job?: string) => ({
    labels: { alertname: `TradingGraph${alertname}`, severity: 'page', ...(job && { job }) },
  });
  const ours = (alertname: string) => page(alertname, 'trading-graph');
  /** An alert that sends no notification. It states that a store has recently refused orders. */
  const storeRefuses = { labels: { ...ours('StoreLately').labels, severity: 'none' } };

  test.each([
    [[ours('BudgetBurn'), ours('Orders'), ours('GatewayUnreachable')], ['GatewayUnreachable']],
    [[ours('BudgetBurn'), ours('Orders')], ['Orders']],
    [[ours('BudgetBurn')], ['BudgetBurn']],
    // A problem of one replica is not the cause of many clients' problems. A store is the cause only if it refuses orders.
    [
      [ours('MemoryShort'), ours('LiveDelayed')],
      ['LiveDelayed', 'MemoryShort'],
    ],
    [
      [ours('StoreAway'), ours('Orders')],
      ['Orders', 'StoreAway'],
    ],
    [[ours('StoreAway'), ours('Orders'), storeRefuses], ['StoreAway']],
    // The alert of an unreachable front proxy has no job, and hides every other page.
    [[ours('GatewayUnreachable'), page('FrontDoor')], ['FrontDoor']],
    // Alerts of another installation hide no alert of this one.
    [
      [ours('Orders'), page('GatewayUnreachable', 'trading-graph-of-others')],
      ['GatewayUnreachable', 'Orders'],
    ],
  ])('page only for the cause of alerts that fire together (%#)', async (alerts, causes) => {
    await using alertmanager = await startAlertmanager(alertmanagerPath, SPEED_UP);
    // An operator has to settle each of these orders, so no alert hides this ticket.
    const unknown = 'TradingGraphOrderUnknown';
    const ticket = { labels: { alertname: unknown, severity: 'ticket', job: 'trading-graph' } };
    const { ok } = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([...alerts, ticket]),
    });
    expect(ok).toBe(true);
    const names = causes.map((name) => `TradingGraph${name}`);
    // Tickets wait longer than pages, so all pages have been sent.
    await eventually(() => alertmanager.tickets.size > 0);
    expect([...alertmanager.tickets]).toEqual([unknown]);
    expect([...alertmanager.pages].toSorted()).toEqual(names);
  });
});
