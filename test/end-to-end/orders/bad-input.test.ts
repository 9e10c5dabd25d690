import { getNamedType, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { MARKET_ORDER } from '../../../src/gateway/operations/open-position.ts';
import { LIMIT_ORDER } from '../../../src/gateway/operations/place-limit-order.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startOrderFacade } from './order-facade.ts';
import { type GraphQLBody, limitOrder, marketOrder, type OrderRequest } from './order-request.ts';

type Input = Readonly<Record<string, unknown>>;
type Mutation = OrderRequest['mutation'];

const PLACE = {
  placeOrder: { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { amount: 10 } },
  placeLimitOrder: { symbol: 'AAPL', side: 'BUY', amount: 10, price: 1 },
} as const;
const TYPES = { placeOrder: 'PlaceOrderInput', placeLimitOrder: 'PlaceLimitOrderInput' };
const FIELDS = '{ __typename ... on OrderOutcome { replayed } }';
const schema = buildSchema();

// `JSON.stringify` cannot write 1e309 and -0. In the written body these texts are replaced by the numbers.
const HUGE = 'a number beyond all';
const MINUS_ZERO = 'a zero with a sign';

/** Three ways to send an input: as one variable, as a variable for each field, and as a literal. */
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

/** A facade with a function that sends an input of an order in one of the forms. */
async function startStage(environment: Readonly<Record<string, string>> = {}) {
  const facade = await startOrderFacade(environment);
  const client = facade.client();
  const send = async (mutation: Mutation, input: Input, form = 'one variable') => {
    const message = FORMS[form]?.(mutation, {
      idempotencyKey: keyOf('k'),
      ...PLACE[mutation],
      ...input,
    });
    const text = JSON.stringify(message).replace(`"${HUGE}"`, '1e309');
    return (await client.post(text.replace(`"${MINUS_ZERO}"`, '-0'))) as GraphQLBody;
  };
  return Object.assign(facade, { send });
}

const BAD_INPUTS: readonly (readonly [Mutation, Input, argument: string])[] = [
  ...([-1, 0, MINUS_ZERO, HUGE, '1'] as const).flatMap(
    (value) =>
      [
        ['placeOrder', { size: { units: value } }, 'input.size.units'],
        ['placeOrder', { size: { amount: value } }, 'input.size.amount'],
        ['placeOrder', { kind: 'PENDING', price: value }, 'input.price'],
        ['placeLimitOrder', { amount: value }, 'input.amount'],
        ['placeLimitOrder', { price: value }, 'input.price'],
      ] as const,
  ),
  ['placeOrder', { size: { units: 1, amount: 1 } }, 'input.size'],
  ['placeOrder', { size: {} }, 'input.size'],
  ['placeOrder', { stopLoss: { price: -1 } }, 'input.stopLoss.price'],
  ['placeOrder', { takeProfit: { price: 1, amount: 1 } }, 'input.takeProfit'],
  ['placeOrder', { size: { units: 1 }, stopLoss: { amount: 5 } }, 'input.stopLoss.amount'],
  ['placeOrder', { symbol: 'AAPL\n' }, 'input.symbol'],
  ['placeOrder', { symbol: '\u0085AAPL' }, 'input.symbol'],
  ['placeOrder', { side: 'HOLD' }, 'input.side'],
  // The kind is required: an order that lost its price must not become a market order.
  ['placeOrder', { kind: undefined }, 'input.kind'],
  ['placeOrder', { kind: null }, 'input.kind'],
  ['placeOrder', { symbol: '' }, 'input.symbol'],
  ['placeOrder', { leverage: 100 }, 'input.leverage'],
  ['placeOrder', { sendBefore: '2026-11-20' }, 'input.sendBefore'],
  ['placeOrder', { sendBefore: 1_795_392_427_840 }, 'input.sendBefore'],
  ['placeOrder', { idempotencyKey: '\ud83d' }, 'input.idempotencyKey'],
  ['placeOrder', { idempotencyKey: 'a plain text' }, 'input.idempotencyKey'],
  ['placeLimitOrder', { price: undefined }, 'input.price'],
  ['placeLimitOrder', { stopLoss: -1 }, 'input.stopLoss'],
  ['placeLimitOrder', { takeProfit: HUGE }, 'input.takeProfit'],
  ['placeLimitOrder', { sendBefore: null }, 'input.sendBefore'],
  ['placeLimitOrder', { idempotencyKey: '' }, 'input.idempotencyKey'],
];

const NO_NULL = 'leave it out for none';
// A message of graphql-js, which checks variables before the execution and literals during validation. So the error's code
// depends on the form in which the input is sent.
const ONE_OF = 'must be non-null';
const NO_PRICE = 'must be given with kind PENDING';
const INVALID_NULLS: readonly (readonly [Mutation, Input, argument: string, sentence: string])[] = [
  ['placeOrder', { stopLoss: null }, 'input.stopLoss', NO_NULL],
  ['placeOrder', { kind: 'PENDING', price: 1, takeProfit: null }, 'input.takeProfit', NO_NULL],
  ['placeOrder', { stopLoss: { price: null } }, 'input.stopLoss.price', ONE_OF],
  ['placeOrder', { takeProfit: { amount: null } }, 'input.takeProfit.amount', ONE_OF],
  ['placeLimitOrder', { stopLoss: null }, 'input.stopLoss', NO_NULL],
  ['placeLimitOrder', { takeProfit: null }, 'input.takeProfit', NO_NULL],
  ['placeOrder', { kind: 'PENDING' }, 'input.price', NO_PRICE],
  ['placeOrder', { kind: 'PENDING', price: null }, 'input.price', NO_PRICE],
  ['placeOrder', { price: 1 }, 'input.price', 'does not go with kind MARKET'],
];

const VALID_INPUTS: readonly (readonly [Mutation, Input])[] = [
  ['placeOrder', {}],
  ['placeOrder', { price: null }],
  ['placeOrder', { comment: null }],
  ['placeOrder', { kind: 'PENDING', price: 1 }],
  ['placeOrder', { stopLoss: { price: 0 }, takeProfit: { price: 9_999 } }],
  ['placeOrder', { size: { amount: 9 }, stopLoss: { amount: 5 } }],
  ['placeLimitOrder', { stopLoss: 0.5 }],
];

test('bad input is refused with the name of the argument, before anything is sent', async () => {
  await using stage = await startStage();
  for (const [mutation, input, argument] of BAD_INPUTS) {
    const { errors } = await stage.send(mutation, input);
    expect(errors?.[0]?.extensions, `${mutation} ${JSON.stringify(input)}`).toMatchObject({
      code: 'BAD_USER_INPUT',
      retryable: false,
      argument,
    });
  }
  // Not even the token was proved.
  expect(stage.sandbox.calls()).toBe(0);
  // No request above has used the key, which is the same in upper case.
  for (const [key, replayed] of [
    [keyOf('k').toUpperCase(), false],
    [keyOf('k'), true],
  ] as const) {
    const { data } = await stage.send('placeOrder', { idempotencyKey: key });
    expect(data).toMatchObject({ placeOrder: { replayed } });
  }
});

test.each(Object.keys(FORMS))(
  'an invalid null is refused and an omitted field is not sent, even if the document is cached: %s',
  async (form) => {
    await using stage = await startStage();
    const { sandbox } = stage;
    const refuseAll = async () => {
      for (const [mutation, input, argument, sentence] of INVALID_NULLS) {
        const { errors } = await stage.send(mutation, input, form);
        const isRefusedByValidation = sentence === ONE_OF && form === 'literals';
        expect(errors, `${mutation} ${JSON.stringify(input)}`).toMatchObject([
          {
            message: expect.stringContaining(sentence),
            extensions: isRefusedByValidation
              ? { code: 'GRAPHQL_VALIDATION_FAILED' }
              : { code: 'BAD_USER_INPUT', retryable: false, argument },
          },
        ]);
      }
    };
    await refuseAll();
    expect(sandbox.orders()).toEqual([]);
    for (const [index, [mutation, fields]] of VALID_INPUTS.entries()) {
      const input: Input = {
        ...PLACE[mutation],
        ...fields,
        idempotencyKey: keyOf(`valid ${index}`),
      };
      const { data } = await stage.send(mutation, input, form);
      expect(data?.[mutation], `${mutation} ${JSON.stringify(fields)}`).toEqual({
        __typename: 'OrderAccepted',
        replayed: false,
      });
      const operation = mutation === 'placeOrder' ? 'openPosition' : mutation;
      const sent = JSON.parse(String(sandbox.requests(operation).at(-1)?.body));
      const { names } = mutation === 'placeOrder' ? MARKET_ORDER : LIMIT_ORDER;
      expect(names.price in sent).toBe(typeof input.price === 'number');
      const hasStop = names.sl in sent || MARKET_ORDER.names.slAmount in sent;
      expect(hasStop).toBe('stopLoss' in fields);
      expect(sent).not.toHaveProperty('kind');
    }
    // From now on cached documents are used.
    await refuseAll();
    expect(sandbox.orders()).toHaveLength(VALID_INPUTS.length);
  },
);

test.each(['http', 'socket'] as const)(
  'a key belongs to one order of one account, and other accounts and forged tokens learn nothing of it (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const owner = facade.client();
    await owner.place(marketOrder('known'), { transport });
    const taken = { code: 'BAD_USER_INPUT', argument: 'input.idempotencyKey' };
    for (const other of [marketOrder('known', 'MSFT'), limitOrder('known')]) {
      expect(await owner.place(other, { transport })).toMatchObject(taken);
    }
    const email = 'user-1@example.com';
    const refused = { kind: 'error', code: 'UNAUTHENTICATED' };
    for (const token of [sandbox.token({ email, signature: 'forged' }), null]) {
      const stranger = facade.client({ token });
      expect(await stranger.place(marketOrder('wanted'), { transport })).toMatchObject(refused);
      expect(await stranger.place(marketOrder('known'), { transport })).toMatchObject(refused);
      expect(await stranger.placedOrder('known', { transport })).toMatchObject(refused);
    }
    const notReplayed = { replayed: false };
    const another = facade.client({ email: 'user-2@example.com' });
    expect(await another.placedOrder('known', { transport })).toEqual({ kind: 'nothing' });
    expect(await another.place(limitOrder('known'), { transport })).toMatchObject(notReplayed);
    expect(sandbox.orders().map(({ login }) => login)).toEqual([800001, 800002]);
    expect(await owner.placedOrder('wanted', { transport })).toEqual({ kind: 'nothing' });
    expect(await owner.place(limitOrder('wanted'), { transport })).toMatchObject(notReplayed);
  },
);

test('the schema says of each figure for which zero is refused that it is above 0', () => {
  const refused = BAD_INPUTS.filter(([, input]) => /:0\}+$/.test(JSON.stringify(input)));
  expect(refused).toHaveLength(5);
  for (const [mutation, , argument] of refused) {
    let type: unknown = schema.getType(TYPES[mutation]);
    let description: string | null | undefined;
    for (const name of argument.split('.').slice(1)) {
      const field = isInputObjectType(type) ? type.getFields()[name] : undefined;
      description = field?.description;
      type = field && getNamedType(field.type);
    }
    expect(description, argument).toContain('above 0');
  }
});
