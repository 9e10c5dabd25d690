import { expect, test } from 'vitest';
import { startOrderFacade } from './order-facade.ts';
import { buying, type Reply, waiting } from './order-request.ts';

const CROWD = 50;

function replayedOf(replies: readonly Reply[]): boolean[] {
  return replies.map((reply) => reply.kind === 'outcome' && reply.replayed);
}

for (const request of [buying('crowded'), waiting('crowded')]) {
  test(`${CROWD} concurrent requests with one key make one call of ${request.mutation}`, async () => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const devices = [facade.client(), facade.client(), facade.client()];
    const replies = await Promise.all(
      Array.from({ length: CROWD }, (_, n) =>
        devices[n % 3]?.place(request, { transport: n % 2 ? 'http' : 'socket' }),
      ),
    );
    const [order] = sandbox.orders();
    expect(replies).toHaveLength(CROWD);
    for (const reply of replies) {
      expect(reply).toMatchObject({ type: 'OrderAccepted', orderId: order?.orderId });
    }
    expect(replayedOf(replies as Reply[]).filter((isReplayed) => !isReplayed)).toHaveLength(1);
    expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(1);
    expect(sandbox.orders()).toHaveLength(1);
  });
}

test('a repeat while the order is in flight waits, and gets the same outcome', async () => {
  await using facade = await startOrderFacade({}, { slowMs: 300 });
  const client = facade.client();
  const first = client.place(buying('slow', 'TEST.SLOW'));
  const others = Array.from({ length: CROWD }, (_, n) =>
    n % 5 === 0
      ? client.placed('slow', { transport: n % 2 ? 'http' : 'socket' })
      : client.place(buying('slow', 'TEST.SLOW'), { transport: n % 2 ? 'http' : 'socket' }),
  );
  const [order, ...replies] = await Promise.all([first, ...others]);
  expect(order).toMatchObject({ type: 'OrderAccepted' });
  const asked = replies.filter(({ kind }) => kind === 'nothing');
  // A request that only reads the outcome may have been faster than the order itself.
  expect(asked.length).toBeLessThanOrEqual(CROWD / 5);
  for (const reply of replies.filter(({ kind }) => kind !== 'nothing')) {
    expect(reply).toMatchObject({ type: 'OrderAccepted' });
  }
  expect(facade.sandbox.calls('openPosition')).toBe(1);
});

test('the refusal of one token does not apply to the others: the next one is sent', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const clients = [facade.client(), facade.client()];
  await Promise.all(clients.map((client) => client.placed('none')));
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 401, delayMs: 100, times: 1 });
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, n) => clients[n % 2]?.place(buying('two tokens'))),
  );
  expect(replies.filter((reply) => reply?.kind === 'error')).toEqual([
    { kind: 'error', code: 'UNAUTHENTICATED', argument: null },
  ]);
  const outcomes = replies.filter((reply) => reply?.kind === 'outcome') as Reply[];
  expect(outcomes).toHaveLength(19);
  expect(replayedOf(outcomes).filter((isReplayed) => !isReplayed)).toHaveLength(1);
  expect(sandbox.calls('openPosition')).toBe(2);
  expect(sandbox.orders()).toHaveLength(1);
});

test('a pause the gateway requests is reported to all waiting requests, and the key stays free', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  await client.placed('none');
  sandbox.fail({
    operation: 'openPosition',
    kind: 'status',
    status: 429,
    delayMs: 3_000,
    times: 1,
  });
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => client.place(buying('paused'))),
  );
  expect(new Set(replies.map((reply) => reply.kind === 'error' && reply.code))).toEqual(
    new Set(['RATE_LIMITED']),
  );
  expect(sandbox.calls('openPosition')).toBe(1);
  expect(await client.placed('paused')).toEqual({ kind: 'nothing' });
  expect(await client.place(buying('paused'))).toMatchObject({
    type: 'OrderAccepted',
    replayed: false,
  });
});
