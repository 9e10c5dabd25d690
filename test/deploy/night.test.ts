import { expect, test } from 'vitest';
import { describeWithAlertmanager } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { inFull } from '../support/in-full.ts';
import { prometheusPath } from '../support/machine.ts';
import { startAlertmanager } from '../support/night/alertmanager.ts';
import { rehearse } from '../support/night/rehearse.ts';
import { SCENES } from '../support/night/scenes.ts';

const NIGHTS: readonly (readonly [scene: string, page: string | null])[] = [
  ['The order operation hangs', 'TradingGraphOrders'],
  ['The gateway is down', 'TradingGraphGatewayUnreachable'],
  ['The catalog has lost a fifth of its instruments', null],
];

describeWithAlertmanager('under a real Prometheus', (alertmanagerPath) => {
  test.skipIf(prometheusPath === null).each(inFull(NIGHTS, NIGHTS.slice(0, 1)))(
    'a fault has its alerts and its page, and they end with it: %s',
    async (wanted, page) => {
      const scene = SCENES.find(({ title }) => title === wanted);
      if (!scene || !prometheusPath) throw new Error(`there is no scene "${wanted}"`);
      const { fired, pages, isOver } = await rehearse(scene, { prometheusPath, alertmanagerPath });
      expect([...fired.keys()]).toEqual(expect.arrayContaining([...scene.alerts]));
      // At a thirtieth of the times a symptom may fire a moment before its cause, which then hides nothing of it.
      const cause = page === null ? -1 : pages.indexOf(page);
      expect(pages.filter((name, at) => name !== 'TradingGraphBudgetBurn' || at > cause)).toEqual(
        page === null ? [] : [page],
      );
      expect(isOver).toBe(true);
    },
  );
});

describeWithAlertmanager('the routes', (alertmanagerPath) => {
  const page = (alertname: string, job?: string) => ({
    labels: { alertname: `TradingGraph${alertname}`, severity: 'page', ...(job && { job }) },
  });
  const ours = (alertname: string) => page(alertname, 'trading-graph');

  test.each([
    [[ours('BudgetBurn'), ours('Orders'), ours('GatewayUnreachable')], ['GatewayUnreachable']],
    [[ours('BudgetBurn'), ours('Orders')], ['Orders']],
    [[ours('BudgetBurn')], ['BudgetBurn']],
    // A door that is shut has no job, and hides whatever else is a page.
    [[ours('GatewayUnreachable'), page('FrontDoor')], ['FrontDoor']],
    // What another installation has hides nothing here.
    [
      [ours('Orders'), page('GatewayUnreachable', 'trading-graph-of-others')],
      ['GatewayUnreachable', 'Orders'],
    ],
  ])('page for the cause of what fires together (%#)', async (alerts, wanted) => {
    await using alertmanager = await startAlertmanager(alertmanagerPath);
    const ticket = { labels: { alertname: 'Ticket', severity: 'ticket', job: 'trading-graph' } };
    const { ok } = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([...alerts, ticket]),
    });
    expect(ok).toBe(true);
    const names = wanted.map((name) => `TradingGraph${name}`);
    // Tickets wait longer than pages do, so all pages are out.
    await eventually(() => alertmanager.tickets.size > 0);
    expect([...alertmanager.tickets]).toEqual(['Ticket']);
    expect([...alertmanager.pages].toSorted()).toEqual(names);
  });
});
