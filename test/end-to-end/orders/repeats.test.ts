import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, waiting } from './order-request.ts';

const CROWD = 50;
// Enough runs that the operation is compiled.
const RUNS = 24;

test.each([buying('crowded'), waiting('crowded')])(
  'many concurrent requests with one key cause one gateway call of $mutation',
  async (request) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const devices = [facade.client(), facade.client(), facade.client()];
    const replies = await Promise.all(
      Array.from({ length: CROWD }, (_, n) =>
        devices[n % 3]?.place(request, { transport: n % 2 ? 'http' : 'socket' }),
      ),
    );
    const [order] = sandbox.orders();
    for (const reply of replies) {
      expect(reply).toMatchObject({ type: 'OrderAccepted', orderId: order?.orderId });
    }
    const first = replies.filter((reply) => reply?.kind === 'outcome' && !reply.replayed);
    expect(first).toHaveLength(1);
    expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(1);
    expect(sandbox.orders()).toHaveLength(1);
  },
);

test.each(['http', 'socket'] as const)(
  'a mutation is executed once per request, however often its document is sent and its reads fail (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    await client.placed('none');
    const query = `mutation ($input: PlaceOrderInput!, $n: JSON) {
      placeOrder(input: $input) { __typename ... on OrderAccepted { positions { id } session { equity } } }
      setValue(input: { key: "n", value: $n }) { __typename }
    }`;
    sandbox.fail({ operation: 'getOpenPositions', kind: 'garbage' });
    for (let n = 0; n < RUNS; n += 1) {
      const variables = { input: buying(`run ${n}`).input, n };
      expect(await client.send({ query, variables }, { transport })).toMatchObject({
        data: { placeOrder: { __typename: 'OrderAccepted', positions: null } },
        errors: [{ extensions: { code: 'GATEWAY_CONTRACT' } }],
      });
    }
    expect(sandbox.orders()).toHaveLength(RUNS);
    expect(sandbox.calls('openPosition')).toBe(RUNS);
    expect(sandbox.calls('setValue')).toBe(RUNS);
  },
);

test.each([
  ['http', buying('left', 'TEST.SLOW')],
  ['socket', waiting('left', 'TEST.SLOW')],
] as const)(
  'an order completes even if its client disconnects while it is in flight (%s)',
  async (transport, order) => {
    await using facade = await startOrderFacade({}, { slowMs: 500 });
    const { sandbox } = facade;
    const client = facade.client();
    const calls = () => sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder');
    const disconnectsAfter = eventually(() => expect(calls()).toBe(1));
    expect(await client.place(order, { transport, disconnectsAfter })).toEqual({ kind: 'cut' });
    expect(sandbox.orders()).toEqual([]);
    const outcome = await client.placed('left', { transport });
    expect(sandbox.orders()).toHaveLength(1);
    expect(outcome).toEqual({
      kind: 'outcome',
      type: 'OrderAccepted',
      orderId: sandbox.orders()[0]?.orderId,
      replayed: true,
    });
    expect(await client.place(order)).toEqual(outcome);
    expect(calls()).toBe(1);
  },
);

test('an order is placed even if its client disconnects while the token is being proved', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 300, times: 1 });
  const disconnectsAfter = eventually(() => expect(sandbox.calls('getSession')).toBe(1));
  expect(await client.place(buying('early'), { disconnectsAfter })).toEqual({ kind: 'cut' });
  await eventually(() => expect(sandbox.orders()).toHaveLength(1));
  expect(await client.placed('early')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});

test('an answer that arrives after ORDER_TIMEOUT_MS settles the order', async () => {
  await using facade = await startOrderFacade({ ORDER_TIMEOUT_MS: '1000' });
  const { sandbox } = facade;
  const client = facade.client();
  for (const [key, symbol, type] of [
    ['late', 'AAPL', 'OrderAccepted'],
    ['refused late', 'TEST.REJECT', 'OrderRejected'],
  ] as const) {
    sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 2_000, times: 1 });
    expect(await client.place(buying(key, symbol))).toMatchObject({
      type: 'OrderOutcomeUnknown',
      replayed: false,
    });
    const settled = await eventually(async () => {
      const placed = await client.placed(key);
      expect(placed).toMatchObject({ type, replayed: true });
      return placed;
    });
    expect(await client.place(buying(key, symbol))).toEqual(settled);
  }
  expect(sandbox.calls('openPosition')).toBe(2);
});
