import { expect, test } from 'vitest';
import { startOrderFacade } from './order-facade.ts';
import { buying } from './order-request.ts';

// More runs than it takes for an operation to be compiled.
const RUNS = 24;

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
      const body = await client.send({ query, variables }, { transport });
      expect(body).toMatchObject({
        data: { placeOrder: { __typename: 'OrderAccepted', positions: null } },
        errors: [{ extensions: { code: 'GATEWAY_CONTRACT' } }],
      });
    }
    expect(sandbox.calls('openPosition')).toBe(RUNS);
    expect(sandbox.orders()).toHaveLength(RUNS);
    expect(sandbox.calls('setValue')).toBe(RUNS);
  },
);
