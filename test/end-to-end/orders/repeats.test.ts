import { expect, test } from 'vitest';
import { startOrderFacade } from './order-facade.ts';
import { buying, waiting } from './order-request.ts';

const CROWD = 50;
// More runs than it takes for an operation to be compiled.
const RUNS = 24;

test.each([buying('crowded'), waiting('crowded')])(
  'many concurrent requests with one key make one call of $mutation',
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
  'a mutation is carried out once per request, however often its document comes and its reads fail (%s)',
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
