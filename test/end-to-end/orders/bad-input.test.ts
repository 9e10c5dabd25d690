import { isInputObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildSchema } from '../../../src/schema/schema.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type GraphQLBody, type OrderRequest, waiting } from './order-request.ts';

type Input = Readonly<Record<string, unknown>>;
type Mutation = OrderRequest['mutation'];

const PLACE = {
  placeOrder: { symbol: 'AAPL', side: 'BUY', size: { amount: 10 } },
  placeLimitOrder: { symbol: 'AAPL', side: 'BUY', amount: 10, price: 1 },
} as const;
const TYPES = { placeOrder: 'PlaceOrderInput', placeLimitOrder: 'PlaceLimitOrderInput' };
const FIELDS = '{ __typename ... on OrderOutcome { replayed } }';
const schema = buildSchema();
/** More than enough for what is kept of a document to be used. */
const RUNS = 12;

// `JSON.stringify` writes neither, so these stand in for the values that are sent.
const HUGE = 'a number beyond all';
const MINUS_ZERO = 'a zero with a sign';

/** The document and its variables for the input as a variable, as a variable for each field, and as a literal. */
const FORMS: Readonly<Record<string, (mutation: Mutation, input: Input) => object>> = {
  'one variable': (mutation, input) => ({
    query: `mutation ($input: ${TYPES[mutation]}!) { ${mutation}(input: $input) ${FIELDS} }`,
    variables: { input },
  }),
  'a variable for each field': (mutation, input) => {
    const type = schema.getType(TYPES[mutation]);
    const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
    const declared = fields.map((field) => `$${field.name}: ${field.type}`);
    const used = fields.map(({ name }) => `${name}: $${name}`);
    return {
      query: `mutation (${declared}) { ${mutation}(input: { ${used} }) ${FIELDS} }`,
      variables: input,
    };
  },
  literals: (mutation, input) => ({
    query: `mutation { ${mutation}(input: ${literal(input)}) ${FIELDS} }`,
  }),
};
function literal(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    const isEnum = typeof value === 'string' && /^(BUY|SELL|MARKET|PENDING)$/.test(value);
    return isEnum ? value : JSON.stringify(value);
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{ ${fields.map(([name, field]) => `${name}: ${literal(field)}`).join(', ')} }`;
}

async function startStage() {
  const facade = await startOrderFacade();
  const client = facade.client();
  const send = async (mutation: Mutation, input: Input, form = 'one variable') => {
    const message = FORMS[form]?.(mutation, { idempotencyKey: 'k', ...PLACE[mutation], ...input });
    const text = JSON.stringify(message).replace(`"${HUGE}"`, '1e309');
    return (await client.post(text.replace(`"${MINUS_ZERO}"`, '-0'))) as GraphQLBody;
  };
  return Object.assign(facade, { send });
}

const BAD: readonly (readonly [Mutation, Input, argument: string])[] = [
  ...([-1, 0, MINUS_ZERO, HUGE, '1'] as const).flatMap(
    (value) =>
      [
        ['placeOrder', { size: { units: value } }, 'input.size.units'],
        ['placeOrder', { size: { amount: value } }, 'input.size.amount'],
        ['placeOrder', { price: value }, 'input.price'],
        ['placeLimitOrder', { amount: value }, 'input.amount'],
        ['placeLimitOrder', { price: value }, 'input.price'],
      ] as const,
  ),
  ['placeOrder', { size: { units: 1, amount: 1 } }, 'input.size'],
  ['placeOrder', { size: {} }, 'input.size'],
  ['placeOrder', { stopLoss: { price: -1 } }, 'input.stopLoss.price'],
  ['placeOrder', { size: { units: 1 }, stopLoss: { amount: 1 } }, 'input.stopLoss.amount'],
  ['placeOrder', { size: { units: 1 }, takeProfit: { amount: 1 } }, 'input.takeProfit.amount'],
  ['placeOrder', { stopLoss: { price: 1, amount: 1 } }, 'input.stopLoss'],
  ['placeOrder', { side: 'HOLD' }, 'input.side'],
  ['placeOrder', { symbol: '' }, 'input.symbol'],
  ['placeOrder', { leverage: 100 }, 'input.leverage'],
  ['placeOrder', { idempotencyKey: '' }, 'input.idempotencyKey'],
  ['placeOrder', { idempotencyKey: 'k'.repeat(256) }, 'input.idempotencyKey'],
  ['placeOrder', { idempotencyKey: '\ud83d' }, 'input.idempotencyKey'],
  ['placeLimitOrder', { price: undefined }, 'input.price'],
  ['placeLimitOrder', { stopLoss: -1 }, 'input.stopLoss'],
  ['placeLimitOrder', { takeProfit: HUGE }, 'input.takeProfit'],
  ['placeLimitOrder', { idempotencyKey: '' }, 'input.idempotencyKey'],
];

const NO_NULL = 'leave it out for none';
const NO_PRICE = 'must be given with kind PENDING';
const REFUSED: readonly (readonly [Mutation, Input, argument: string, sentence: string])[] = [
  ['placeOrder', { price: null }, 'input.price', NO_NULL],
  ['placeOrder', { stopLoss: null }, 'input.stopLoss', NO_NULL],
  ['placeOrder', { price: 1, takeProfit: null }, 'input.takeProfit', NO_NULL],
  ['placeOrder', { stopLoss: { price: null } }, 'input.stopLoss.price', NO_NULL],
  ['placeOrder', { takeProfit: { amount: null } }, 'input.takeProfit.amount', NO_NULL],
  ['placeOrder', { kind: 'MARKET', stopLoss: null }, 'input.stopLoss', NO_NULL],
  ['placeLimitOrder', { stopLoss: null }, 'input.stopLoss', NO_NULL],
  ['placeLimitOrder', { takeProfit: null }, 'input.takeProfit', NO_NULL],
  ['placeOrder', { kind: 'PENDING' }, 'input.price', NO_PRICE],
  ['placeOrder', { kind: 'PENDING', price: null }, 'input.price', NO_PRICE],
  ['placeOrder', { kind: 'MARKET', price: 1 }, 'input.price', 'does not go with kind MARKET'],
];

const PASSING: readonly (readonly [Mutation, Input])[] = [
  ['placeOrder', {}],
  ['placeOrder', { kind: 'MARKET', price: null }],
  ['placeOrder', { kind: null }],
  ['placeOrder', { comment: null }],
  ['placeOrder', { kind: 'PENDING', price: 1 }],
  ['placeOrder', { stopLoss: { price: 1 } }],
  ['placeLimitOrder', { stopLoss: 0.5 }],
];

describe('bad input', () => {
  test('is refused with the name of the offending value, before anything is sent', async () => {
    await using stage = await startStage();
    for (const [mutation, input, argument] of BAD) {
      const { errors } = await stage.send(mutation, input);
      expect(errors?.[0]?.extensions, `${mutation} ${JSON.stringify(input)}`).toMatchObject({
        ...{ code: 'BAD_USER_INPUT', retryable: false, argument },
      });
    }
    // The token was not even proved.
    expect(stage.sandbox.calls()).toBe(0);
    expect(await stage.send('placeOrder', {})).toMatchObject({
      data: { placeOrder: { replayed: false } },
    });
  });

  test.each(Object.keys(FORMS))(
    'a null that is none is refused, and a kind that contradicts the price: %s',
    async (form) => {
      await using stage = await startStage();
      for (const [mutation, input, argument, sentence] of REFUSED) {
        const { errors } = await stage.send(mutation, input, form);
        expect(errors, `${mutation} ${JSON.stringify(input)}`).toMatchObject([
          {
            message: expect.stringContaining(sentence),
            extensions: { code: 'BAD_USER_INPUT', retryable: false, argument },
          },
        ]);
      }
      expect(stage.sandbox.orders()).toEqual([]);
    },
  );

  test.each(Object.keys(FORMS))('what may be left out stays out: %s', async (form) => {
    await using stage = await startStage();
    const { sandbox } = stage;
    for (const [at, [mutation, fields]] of PASSING.entries()) {
      const input: Input = { ...PLACE[mutation], ...fields, idempotencyKey: `passing ${at}` };
      const { data } = await stage.send(mutation, input, form);
      expect(data?.[mutation], `${mutation} ${JSON.stringify(fields)}`).toEqual({
        __typename: 'OrderAccepted',
        replayed: false,
      });
      const operation = mutation === 'placeOrder' ? 'openPosition' : mutation;
      const sent = JSON.parse(String(sandbox.requests(operation).at(-1)?.body));
      expect('price' in sent).toBe(typeof input.price === 'number');
      expect('sl' in sent).toBe('stopLoss' in fields);
      expect(sent).not.toHaveProperty('kind');
    }
  });

  test('a null is refused however often the document runs', async () => {
    await using stage = await startStage();
    const form = 'a variable for each field';
    for (let run = 0; run < RUNS; run += 1) {
      const input = { idempotencyKey: `run ${run}` };
      const { errors } = await stage.send('placeOrder', { ...input, price: null }, form);
      expect(errors).toMatchObject([{ extensions: { argument: 'input.price' } }]);
      const { data } = await stage.send('placeOrder', input, form);
      expect(data?.placeOrder).toMatchObject({ __typename: 'OrderAccepted' });
    }
    expect(stage.sandbox.calls('openPosition')).toBe(RUNS);
  });
});

test('an app that was updated to send the kind repeats its order, whichever price it has', async () => {
  await using stage = await startStage();
  for (const [idempotencyKey, before, now] of [
    ['market', {}, { kind: 'MARKET' }],
    ['market with null', {}, { kind: 'MARKET', price: null }],
    ['pending', { price: 1 }, { kind: 'PENDING', price: 1 }],
  ] as const) {
    const replayed = async (input: Input) => {
      const { data } = await stage.send('placeOrder', { ...input, idempotencyKey });
      return (data?.placeOrder as Input | undefined)?.replayed;
    };
    expect(await replayed(before)).toBe(false);
    expect(await replayed(now)).toBe(true);
    expect(await replayed(before)).toBe(true);
  }
  expect(stage.sandbox.calls('openPosition')).toBe(3);
});

test('what only the gateway can judge is passed on with its refusal', async () => {
  await using facade = await startOrderFacade();
  const query = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
    __typename ... on OrderOutcome { message } ... on OrderRejected { error }
  } }`;
  const { input } = buying('unknown symbol', 'NO.SUCH');
  expect(await facade.client().send({ query, variables: { input } })).toMatchObject({
    data: {
      placeOrder: {
        __typename: 'OrderRejected',
        message: 'NO.SUCH is not traded in this group.',
        error: 'UNKNOWN_SYMBOL',
      },
    },
  });
});

test('a key that another order of the account has is refused, and is not visible to others', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const [phone, desk] = [facade.client(), facade.client()];
  await phone.place(buying('taken'));
  for (const other of [buying('taken', 'MSFT'), waiting('taken')]) {
    const refusal = { code: 'BAD_USER_INPUT', argument: 'input.idempotencyKey' };
    expect(await desk.place(other)).toMatchObject(refusal);
  }
  const theirs = facade.client({ email: 'user-2@example.com' });
  expect(await theirs.placed('taken')).toEqual({ kind: 'nothing' });
  expect(await theirs.place(waiting('taken'))).toMatchObject({ replayed: false });
  expect(sandbox.orders().map(({ login }) => login)).toEqual([800001, 800002]);
});

test.each(['http', 'socket'] as const)(
  'a forged token reserves nothing and learns nothing: the key stays its owner’s (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const owner = facade.client();
    await owner.place(buying('known'), { transport });
    const email = 'user-1@example.com';
    const refused = { kind: 'error', code: 'UNAUTHENTICATED' };
    for (const token of [sandbox.token({ email, signature: 'forged' }), null]) {
      const stranger = facade.client({ token });
      expect(await stranger.place(buying('wanted'), { transport })).toMatchObject(refused);
      expect(await stranger.place(buying('known'), { transport })).toMatchObject(refused);
      expect(await stranger.placed('known', { transport })).toMatchObject(refused);
    }
    expect(sandbox.orders()).toHaveLength(1);
    expect(await owner.placed('wanted', { transport })).toEqual({ kind: 'nothing' });
    expect(await owner.place(waiting('wanted'), { transport })).toMatchObject({ replayed: false });
  },
);
