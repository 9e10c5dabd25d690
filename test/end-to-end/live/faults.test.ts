import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { closedClients } from './closed-clients.ts';
import { LIST, sseClient, VIEWS, webSocketClient } from './watcher.ts';

// A hang ends with the deadline, and a list that never comes.
const app = ownApp({
  POSITIONS_POLL_MS: '100',
  POSITIONS_POLL_MAX_MS: '600000',
  GATEWAY_TIMEOUT_MS: '4000',
});
const opened = closedClients();

test('without a first list within the deadline a subscription ends with the error; a feed that fails later keeps its list and recovers', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const clients = [opened(webSocketClient(app, token)), opened(sseClient(app, token))] as const;
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'hang' });
  const early = clients.flatMap((client) => [client.watch(), client.watch({}, LIST)]);
  await eventually(() => early.every(({ ended }) => ended !== null));
  for (const watcher of early) {
    const extensions = { code: 'GATEWAY_TIMEOUT', operation: 'getOpenPositions' };
    expect(watcher.errors).toMatchObject([{ extensions }]);
    expect(watcher.ended).toBe('complete');
  }
  app.sandbox.clearFaults();
  const changes = clients.flatMap((client) => VIEWS.map(([, view]) => client.watch({}, view)));
  const list = clients[0].watch({}, LIST);
  await eventually(() => [...changes, list].every((watcher) => watcher.list.length === 6));
  const shown = list.list;
  const listsBefore = list.lists.length;
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500, times: 5 });
  app.sandbox.tick();
  const are = (status: string) =>
    eventually(() => changes.every(({ last }) => last?.status === status));
  await are('DELAYED');
  for (const { last, list: kept } of changes) {
    expect(kept).toEqual(shown);
    expect(last).toMatchObject({ snapshot: false, upserted: [], opened: [], closed: [] });
  }
  expect(new Set(changes.map(({ last }) => last?.asOf)).size).toBe(1);
  await are('LIVE');
  for (const watcher of [...changes, list]) {
    expect(watcher.list).not.toEqual(shown);
    expect(watcher.list).toEqual(changes[0]?.list);
    expect(watcher.ended).toBeNull();
  }
  expect(list.lists.length).toBe(listsBefore + 1);
});
