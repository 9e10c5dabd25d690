import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  LIST,
  type LiveClient,
  sseClient,
  VIEWS,
  type Watcher,
  webSocketClient,
} from './watcher.ts';

const POLL_MS = 100;

/** A service of one test, with the clients that it opens. */
async function startStage() {
  const app = await startTestApp({
    POSITIONS_POLL_MS: String(POLL_MS),
    POSITIONS_POLL_MAX_MS: '600000',
    // A hang ends with it, and a list that never comes.
    GATEWAY_TIMEOUT_MS: '4000',
  });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const clients: LiveClient[] = [];
  return {
    app,
    open(create: typeof webSocketClient | typeof sseClient): LiveClient {
      const client = create(app, token);
      clients.push(client);
      return client;
    },
    fail: (fault: Omit<Fault, 'operation'>) =>
      app.sandbox.fail({ operation: 'getOpenPositions', ...fault }),
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.dispose()));
      await app.close();
    },
  };
}

type Stage = Awaited<ReturnType<typeof startStage>>;

/** Opens both views on both transports, once each has its list. */
async function watchers({ open }: Stage): Promise<{ changes: Watcher[]; list: Watcher }> {
  const [socket, stream] = [open(webSocketClient), open(sseClient)];
  const changes = [socket, stream].flatMap((client) =>
    VIEWS.map(([, view]) => client.watch({}, view)),
  );
  const all = { changes, list: socket.watch({}, LIST) };
  await eventually(() => [...all.changes, all.list].every(({ list }) => list.length === 6));
  return all;
}

async function status(of: readonly Watcher[], expected: 'LIVE' | 'DELAYED'): Promise<void> {
  await eventually(() => of.every(({ last }) => last?.status === expected));
}

function pollsSince({ app }: Stage, atMs: number): number[] {
  return app.sandbox
    .requests('getOpenPositions')
    .map((request) => request.atMs)
    .filter((pollAtMs) => pollAtMs > atMs);
}

test.concurrent.each<[string, Omit<Fault, 'operation'>]>([
  ['500', { kind: 'status', status: 500, times: 5 }],
  ['a hang', { kind: 'hang', times: 2 }],
  ['garbage', { kind: 'garbage', times: 2 }],
])('%s delays the feed, which keeps its list and recovers by itself', async (_what, fault) => {
  await using stage = await startStage();
  const { app, fail } = stage;
  const { changes, list } = await watchers(stage);
  const [shown] = changes.map((watcher) => watcher.list);
  const listsBefore = list.lists.length;
  app.sandbox.clearCalls();
  fail(fault);
  app.sandbox.tick();
  await status(changes, 'DELAYED');
  for (const { last, list: kept } of changes) {
    expect(kept).toEqual(shown);
    expect(last).toMatchObject({ snapshot: false, upserted: [], opened: [], closed: [] });
  }
  const asOf = new Set(changes.map(({ last }) => last?.asOf));
  expect(asOf.size).toBe(1);
  await status(changes, 'LIVE');
  for (const watcher of [...changes, list]) {
    expect(watcher.list).not.toEqual(shown);
    expect(watcher.list).toEqual(changes[0]?.list);
    expect(watcher.ended).toBeNull();
  }
  expect(list.lists.length).toBe(listsBefore + 1);
  // The backoff grows between two failures, and no poll falls into it.
  // A busy machine may see more polls after them.
  const polls = pollsSince(stage, 0).slice(0, (fault.times ?? 1) + 1);
  for (let failures = 1; failures < polls.length; failures += 1) {
    const pauseMs = (polls[failures] as number) - (polls[failures - 1] as number);
    // Measured at the gateway, where a busy machine may record the first of the two too late.
    expect(pauseMs).toBeGreaterThanOrEqual(0.6 * ((POLL_MS * 2 ** failures) / 2));
  }
});

test.concurrent('a 429 with a Retry-After pauses the polls for as long', async () => {
  await using stage = await startStage();
  const { app, fail } = stage;
  const { changes } = await watchers(stage);
  fail({ kind: 'status', status: 429, headers: { 'retry-after': '3' }, times: 1 });
  app.sandbox.tick();
  await status(changes, 'DELAYED');
  const refusedAtMs = app.sandbox.requests('getOpenPositions').at(-1)?.atMs ?? 0;
  await status(changes, 'LIVE');
  const [next] = pollsSince(stage, refusedAtMs);
  expect((next ?? 0) - refusedAtMs).toBeGreaterThanOrEqual(2_900);
});

test.concurrent.each([
  ['a hang', { kind: 'hang' }, 'GATEWAY_TIMEOUT'],
  ['429', { kind: 'status', status: 429 }, 'RATE_LIMITED'],
] as const)(
  'without a first list within the deadline the subscription ends with the error: %s',
  async (_what, fault, code) => {
    await using stage = await startStage();
    stage.fail(fault);
    for (const create of [webSocketClient, sseClient]) {
      const client = stage.open(create);
      const ending = [client.watch(), client.watch({}, LIST)];
      for (const watcher of ending) {
        await eventually(() => watcher.ended !== null);
        expect(watcher.errors).toMatchObject([
          { extensions: { code, operation: 'getOpenPositions' } },
        ]);
        expect(watcher.ended).toBe('complete');
      }
    }
  },
);
