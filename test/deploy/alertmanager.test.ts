import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { describeWithAlertmanager } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-ports.ts';
import { listenLocally } from '../support/local-server.ts';
import { temporaryFolder } from '../support/own-folder.ts';
import { startProgram } from '../support/started-program.ts';

/** With this factor a wait of half a minute takes a second. */
const SPEED_UP = 30;
const ROUTES = new URL('../../deploy/prometheus/alertmanager.yml', import.meta.url);
const RECEIVERS = 'http://127.0.0.1:9099/';
const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
const WAIT = /(\b(?:group_wait|group_interval|repeat_interval): )(\d+)([smh])/g;

interface Message {
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

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
    await using alertmanager = await startAlertmanager(alertmanagerPath);
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

/** Starts an Alertmanager with the shipped routes, whose waits are divided by `SPEED_UP`. Records its alerts. */
async function startAlertmanager(path: string) {
  const pages = new Set<string>();
  const tickets = new Set<string>();
  const receiver = createServer(async (request, response) => {
    const { alerts } = (await json(request)) as Message;
    for (const { status, labels } of alerts) {
      if (status !== 'firing') continue;
      (request.url === '/page' ? pages : tickets).add(labels.alertname ?? '');
    }
    response.end();
  });
  await using started = new AsyncDisposableStack();
  const listener = started.use(await listenLocally(receiver));
  const folder = started.use(await temporaryFolder());
  const routes = shortened(await readFile(ROUTES, 'utf8'));
  await writeFile(
    join(folder.path, 'config.yml'),
    routes.replaceAll(RECEIVERS, `${listener.url}/`),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const args = [
    '--config.file=config.yml',
    `--web.listen-address=${address}`,
    '--log.level=error',
    '--storage.path=data',
    '--cluster.listen-address=',
  ];
  const isReady = async () => (await fetch(`${url}/-/ready`)).ok;
  started.use(await startProgram(path, args, isReady, { cwd: folder.path }));
  const owned = started.move();
  return { url, pages, tickets, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function shortened(routes: string): string {
  return routes.replace(WAIT, (_whole, name, count, unit) => {
    const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
    return `${name}${Math.round((seconds * 1_000) / SPEED_UP)}ms`;
  });
}
