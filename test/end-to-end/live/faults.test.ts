import { expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { LIST, sseClient, VIEWS, type Watcher, webSocketClient } from './watcher.ts';

/** A service of one test, with a client of each transport. */
async function startStage() {
  const app = await startTestApp({
    POSITIONS_POLL_MS: '100',
    POSITIONS_POLL_MAX_MS: '600000',
    // A hang ends with it, and a list that never comes.
    GATEWAY_TIMEOUT_MS: '4000',
  });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const clients = [webSocketClient(app, token), sseClient(app, token)] as const;
  return {
    app,
    clients,
    fail: (fault: Omit<Fault, 'operation'>) =>
      app.sandbox.fail({ operation: 'getOpenPositions', ...fault }),
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.dispose()));
      await app.close();
    },
  };
}

async function status(of: readonly Watcher[], expected: 'LIVE' | 'DELAYED'): Promise<void> {
  await eventually(() => of.every(({ last }) => last?.status === expected));
}

test.concurrent('a gateway that fails delays the feed, which keeps its list and recovers by itself', async () => {
  await using stage = await startStage();
  const { app, clients, fail } = stage;
  const changes = clients.flatMap((client) => VIEWS.map(([, view]) => client.watch({}, view)));
  const list = clients[0].watch({}, LIST);
  await eventually(() => [...changes, list].every((watcher) => watcher.list.length === 6));
  const shown = list.list;
  const listsBefore = list.lists.length;
  fail({ kind: 'status', status: 500, times: 5 });
  app.sandbox.tick();
  await status(changes, 'DELAYED');
  for (const { last, list: kept } of changes) {
    expect(kept).toEqual(shown);
    expect(last).toMatchObject({ snapshot: false, upserted: [], opened: [], closed: [] });
  }
  expect(new Set(changes.map(({ last }) => last?.asOf)).size).toBe(1);
  await status(changes, 'LIVE');
  for (const watcher of [...changes, list]) {
    expect(watcher.list).not.toEqual(shown);
    expect(watcher.list).toEqual(changes[0]?.list);
    expect(watcher.ended).toBeNull();
  }
  expect(list.lists.length).toBe(listsBefore + 1);
});

test.concurrent('without a first list within the deadline the subscription ends with the error', async () => {
  await using stage = await startStage();
  stage.fail({ kind: 'hang' });
  for (const client of stage.clients) {
    for (const watcher of [client.watch(), client.watch({}, LIST)]) {
      await eventually(() => watcher.ended !== null);
      const extensions = { code: 'GATEWAY_TIMEOUT', operation: 'getOpenPositions' };
      expect(watcher.errors).toMatchObject([{ extensions }]);
      expect(watcher.ended).toBe('complete');
    }
  }
});
