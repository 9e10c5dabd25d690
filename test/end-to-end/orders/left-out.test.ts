import { describe, expect, test } from 'vitest';
import { type OrderFacade, startOrderFacade } from './order-facade.ts';
import type { GraphQLBody } from './order-request.ts';

type Input = Readonly<Record<string, unknown>>;
type Send = (input: Input) => Promise<GraphQLBody>;

const PLACE = {
  placeOrder: { symbol: 'AAPL', side: 'BUY', size: { amount: 10 } },
  placeLimitOrder: { symbol: 'AAPL', side: 'BUY', amount: 10, price: 1 },
} as const;
type Mutation = keyof typeof PLACE;

const TYPES = { placeOrder: 'PlaceOrderInput!', placeLimitOrder: 'PlaceLimitOrderInput!' };
// The type of each field, for documents with a variable of its own for each.
const FIELD_TYPES: Readonly<Record<Mutation, Readonly<Record<string, string>>>> = {
  placeOrder: {
    symbol: 'ID!',
    side: 'Side!',
    size: 'OrderSize!',
    kind: 'PlaceOrderKind',
    price: 'Float',
    stopLoss: 'Protection',
    takeProfit: 'Protection',
    comment: 'String',
    idempotencyKey: 'String!',
  },
  placeLimitOrder: {
    symbol: 'ID!',
    side: 'Side!',
    amount: 'Float!',
    price: 'Float!',
    stopLoss: 'Float',
    takeProfit: 'Float',
    comment: 'String',
    idempotencyKey: 'String!',
  },
};

const FIELDS = '{ __typename ... on OrderOutcome { replayed } }';
/** More than enough for what is kept of a document to be used. */
const RUNS = 12;

/** The input as a variable, as a variable for each field, and as a literal. */
function forms(facade: OrderFacade, mutation: Mutation, transport: 'http' | 'socket') {
  const client = facade.client();
  const send = async (query: string, variables: Input): Promise<GraphQLBody> => {
    const body = await client.send({ query, variables }, { transport });
    if (body === 'cut') throw new Error('cut');
    return body;
  };
  const fields = FIELD_TYPES[mutation];
  const declared = Object.entries(fields).map(([name, type]) => `$${name}: ${type}`);
  const used = Object.keys(fields).map((name) => `${name}: $${name}`);
  const forms: Record<string, Send> = {
    'one variable': (input) =>
      send(`mutation ($input: ${TYPES[mutation]}) { ${mutation}(input: $input) ${FIELDS} }`, {
        input,
      }),
    'a variable for each field': (input) =>
      send(`mutation (${declared}) { ${mutation}(input: { ${used} }) ${FIELDS} }`, input),
    literals: (input) => send(`mutation { ${mutation}(input: ${literal(input)}) ${FIELDS} }`, {}),
  };
  return forms;
}

function literal(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    const isEnum = typeof value === 'string' && /^(BUY|SELL|MARKET|PENDING)$/.test(value);
    return isEnum ? value : JSON.stringify(value);
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{ ${fields.map(([name, field]) => `${name}: ${literal(field)}`).join(', ')} }`;
}

const NULLS: readonly (readonly [Mutation, Input, argument: string])[] = [
  ['placeOrder', { price: null }, 'input.price'],
  ['placeOrder', { stopLoss: null }, 'input.stopLoss'],
  ['placeOrder', { takeProfit: null }, 'input.takeProfit'],
  ['placeOrder', { price: 1, takeProfit: null }, 'input.takeProfit'],
  ['placeOrder', { stopLoss: { price: null } }, 'input.stopLoss.price'],
  ['placeOrder', { stopLoss: { amount: null } }, 'input.stopLoss.amount'],
  ['placeOrder', { takeProfit: { price: null } }, 'input.takeProfit.price'],
  ['placeOrder', { takeProfit: { amount: null } }, 'input.takeProfit.amount'],
  ['placeOrder', { kind: 'MARKET', stopLoss: null }, 'input.stopLoss'],
  ['placeLimitOrder', { stopLoss: null }, 'input.stopLoss'],
  ['placeLimitOrder', { takeProfit: null }, 'input.takeProfit'],
];

const KINDS: readonly (readonly [Input, sentence: RegExp])[] = [
  [{ kind: 'PENDING' }, /must be given with kind PENDING/],
  [{ kind: 'PENDING', price: null }, /must be given with kind PENDING/],
  [{ kind: 'MARKET', price: 1 }, /does not go with kind MARKET/],
];

const PASSING: readonly (readonly [Mutation, Input])[] = [
  ['placeOrder', {}],
  ['placeOrder', { kind: 'MARKET' }],
  ['placeOrder', { kind: 'MARKET', price: null }],
  ['placeOrder', { kind: null }],
  ['placeOrder', { comment: null }],
  ['placeOrder', { price: 1 }],
  ['placeOrder', { kind: 'PENDING', price: 1 }],
  ['placeOrder', { stopLoss: { price: 1 } }],
  ['placeLimitOrder', { stopLoss: 0.5 }],
];

describe.each(['http', 'socket'] as const)('what is left out (%s)', (transport) => {
  test('is none, and a null in its place is refused before anything is sent', async () => {
    await using facade = await startOrderFacade();
    for (const [mutation, fields, argument] of NULLS) {
      for (const [form, send] of Object.entries(forms(facade, mutation, transport))) {
        const input = { ...PLACE[mutation], ...fields, idempotencyKey: 'nulls' };
        const { errors } = await send(input);
        const what = `${mutation} ${JSON.stringify(fields)} by ${form}`;
        expect(errors, what).toMatchObject([
          {
            message: expect.stringContaining('leave it out for none'),
            extensions: { code: 'BAD_USER_INPUT', retryable: false, argument },
          },
        ]);
      }
    }
    expect(facade.sandbox.calls('openPosition')).toBe(0);
    expect(facade.sandbox.calls('placeLimitOrder')).toBe(0);
  });

  test('contradicts the kind of order, where one is given', async () => {
    await using facade = await startOrderFacade();
    for (const [fields, sentence] of KINDS) {
      for (const [form, send] of Object.entries(forms(facade, 'placeOrder', transport))) {
        const { errors } = await send({ ...PLACE.placeOrder, ...fields, idempotencyKey: 'kinds' });
        expect(errors, `${JSON.stringify(fields)} by ${form}`).toMatchObject([
          {
            message: expect.stringMatching(sentence),
            extensions: { code: 'BAD_USER_INPUT', argument: 'input.price' },
          },
        ]);
      }
    }
    expect(facade.sandbox.calls('openPosition')).toBe(0);
  });

  test('may stay out', async () => {
    await using facade = await startOrderFacade();
    let round = 0;
    for (const [mutation, fields] of PASSING) {
      for (const [form, send] of Object.entries(forms(facade, mutation, transport))) {
        round += 1;
        const input: Input = {
          ...PLACE[mutation],
          ...fields,
          idempotencyKey: `passing ${round}`,
        };
        const { data } = await send(input);
        expect(data?.[mutation], `${mutation} ${JSON.stringify(fields)} by ${form}`).toEqual({
          __typename: 'OrderAccepted',
          replayed: false,
        });
        const sent = JSON.parse(
          String(
            facade.sandbox
              .requests(mutation === 'placeOrder' ? 'openPosition' : 'placeLimitOrder')
              .at(-1)?.body,
          ),
        );
        expect('price' in sent).toBe(typeof input.price === 'number');
        expect('sl' in sent).toBe('stopLoss' in fields);
        expect(sent).not.toHaveProperty('kind');
      }
    }
  });

  test('stays none, however often the document runs', async () => {
    await using facade = await startOrderFacade();
    const { 'a variable for each field': send } = forms(facade, 'placeOrder', transport);
    for (let run = 0; run < RUNS; run += 1) {
      const input = { ...PLACE.placeOrder, idempotencyKey: `run ${run}` };
      const refused = await send?.({ ...input, price: null });
      expect(refused?.errors).toMatchObject([{ extensions: { argument: 'input.price' } }]);
      const taken = await send?.(input);
      expect(taken?.data?.placeOrder).toMatchObject({ __typename: 'OrderAccepted' });
    }
    expect(facade.sandbox.calls('openPosition')).toBe(RUNS);
  });
});

test('an app that was updated to send the kind repeats its order, whichever price it has', async () => {
  await using facade = await startOrderFacade();
  const send = forms(facade, 'placeOrder', 'http')['one variable'] as Send;
  for (const [key, before, now] of [
    ['market', {}, { kind: 'MARKET' }],
    ['market with null', {}, { kind: 'MARKET', price: null }],
    ['pending', { price: 1 }, { kind: 'PENDING', price: 1 }],
  ] as const) {
    const input = { ...PLACE.placeOrder, idempotencyKey: key };
    const first = await send({ ...input, ...before });
    expect(first.data?.placeOrder).toMatchObject({ replayed: false });
    for (const repeat of [now, before]) {
      const again = await send({ ...input, ...repeat });
      expect(again.data?.placeOrder).toEqual({ __typename: 'OrderAccepted', replayed: true });
    }
  }
  expect(facade.sandbox.calls('openPosition')).toBe(3);
});
