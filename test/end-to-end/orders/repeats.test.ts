import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startOrderFacade } from './order-facade.ts';
import { limitOrder, marketOrder } from './order-request.ts';

const CONCURRENT_REQUESTS = 50;
/** The service compiles an operation that is sent this often. */
const RUNS = 24;

test.each([marketOrder('crowded'), limitOrder('crowded')])(
  'many concurrent requests with one key cause one gateway call of $mutation',
  async (request) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const devices = [facade.client(), facade.client(), facade.client()];
    const replies = await Promise.all(
      Array.from({ length: CONCURRENT_REQUESTS }, (_, index) => {
        const device = devices[index % devices.length];
        return device?.place(request, { transport: index % 2 === 1 ? 'http' : 'socket' });
      }),
    );
    const [order] = sandbox.orders();
    for (const reply of replies) {
      expect(reply).toMatchObject({ type: 'OrderAccepted', orderId: order?.orderId });
    }
    const notReplayed = replies.filter((reply) => reply?.kind === 'outcome' && !reply.replayed);
    expect(notReplayed).toHaveLength(1);
    expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(1);
    expect(sandbox.orders()).toHaveLength(1);
  },
);

test.each(['http', 'socket'] as const)(
  'a mutation is executed once per request, even if its reads fail and its document is compiled (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    await client.placedOrder('none');
    const query = `mutation ($input: PlaceOrderInput!, $n: JSON) {
      placeOrder(input: $input) { __typename ... on OrderAccepted { positions { id } session { equity } } }
      setValue(input: { key: "n", value: $n }) { __typename }
    }`;
    sandbox.fail({ operation: 'getOpenPositions', kind: 'garbage' });
    for (let n = 0; n < RUNS; n += 1) {
      const variables = { input: marketOrder(`run ${n}`).input, n };
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
  ['http', marketOrder('left', 'TEST.SLOW')],
  ['socket', limitOrder('left', 'TEST.SLOW')],
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
    const outcome = await client.placedOrder('left', { transport });
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
  expect(await client.place(marketOrder('soon'), { disconnectsAfter })).toEqual({ kind: 'cut' });
  await eventually(() => expect(sandbox.orders()).toHaveLength(1));
  expect(await client.placedOrder('soon')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});
