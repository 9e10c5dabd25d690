import { expect, test } from 'vitest';
import { describeWithAlertmanager } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { inFull } from '../support/in-full.ts';
import { haproxyPath, prometheusPath, redisServerPath } from '../support/machine.ts';
import { startAlertmanager } from '../support/night/monitoring.ts';
import { fits, rehearse } from '../support/night/rehearse.ts';
import { SCENES } from '../support/night/scenes.ts';

/** A scrape each half second, with as long to answer: on a busy machine a shorter one counts what is slow as away. */
const HASTENED_BY = 30;
/** For what is told of the fault, and again for its end. */
const WITHIN_MS = 120_000;

describeWithAlertmanager('a night under a real Prometheus', (alertmanagerPath) => {
  const tools = haproxyPath !== null &&
    prometheusPath !== null &&
    redisServerPath !== null && { alertmanagerPath, haproxyPath, prometheusPath, redisServerPath };
  const nights: [scene: string, page: string | null][] = [
    ['The order operation hangs', 'TradingGraphOrders'],
    ['The certificate of the gateway is of an unknown CA', 'TradingGraphGatewayUnreachable'],
    ['The catalog has lost a fifth of its instruments', null],
  ];
  test.skipIf(!tools).each(inFull(nights, nights.slice(0, 1)))(
    'tells of the fault, its cause and its end: %s',
    async (wanted, page) => {
      if (!tools) throw new Error('it needs haproxy, prometheus and redis-server');
      const scene = SCENES.find(({ title }) => title === wanted);
      if (scene === undefined) throw new Error(`there is no scene "${wanted}"`);
      const { problems, pages, resolvedAfter, evidence } = await rehearse(scene, {
        ...tools,
        seed: wanted,
        hastenedBy: HASTENED_BY,
        accounts: 20,
        requestsPerSecond: 10,
        calmMs: 2_000,
        withinMs: WITHIN_MS,
      });
      expect(problems).toEqual([]);
      // At a thirtieth of the times a symptom may fire a moment before its cause, which then hides nothing of it.
      const cause = page === null ? -1 : pages.indexOf(page);
      expect(pages.filter((name, at) => name !== 'TradingGraphBudgetBurn' || at > cause)).toEqual(
        page === null ? [] : [page],
      );
      expect(resolvedAfter).toBeGreaterThan(0);
      // The drill hands out all of this, but not the fault that was acted.
      for (const name of scene.alerts) expect(evidence['alerts.txt']).toContain(name);
      const everything = Object.values(evidence).join('\n');
      for (const texts of scene.lines ?? []) {
        expect(everything.split('\n').some((line) => fits(line, texts))).toBe(true);
      }
      expect(everything).not.toContain(wanted);
    },
    3 * WITHIN_MS,
  );
});

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
    // One replica is no cause of what many see, nor is a store that will be full; one that refuses orders is.
    [
      [ours('MemoryShort'), ours('LiveDelayed')],
      ['LiveDelayed', 'MemoryShort'],
    ],
    [
      [ours('StoreAway'), ours('Orders')],
      ['Orders', 'StoreAway'],
    ],
    [[ours('StoreAway'), ours('Orders'), lately], ['StoreAway']],
    // A door that is shut has no job, and hides whatever else is a page.
    [[ours('GatewayUnreachable'), page('FrontDoor')], ['FrontDoor']],
    // What another installation has hides nothing here.
    [
      [ours('Orders'), page('GatewayUnreachable', 'trading-graph-of-others')],
      ['GatewayUnreachable', 'Orders'],
    ],
  ])('page for the cause of what fires together (%#)', async (alerts, wanted) => {
    await using alertmanager = await startAlertmanager(alertmanagerPath, HASTENED_BY);
    // Whatever fires, somebody has to settle each of these orders.
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
