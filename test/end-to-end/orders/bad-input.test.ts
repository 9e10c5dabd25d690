import { describe, expect, test } from 'vitest';
import { type OrderFacade, startOrderFacade } from './order-facade.ts';
import {
  buying,
  type GraphQLBody,
  type OrderRequest,
  placing,
  type Reply,
  waiting,
} from './order-request.ts';

const TRANSPORTS = ['http', 'socket'] as const;

type Input = Readonly<Record<string, unknown>>;

function market(changes: Input): OrderRequest {
  const { input } = buying('bad');
  return { mutation: 'placeOrder', input: { ...input, ...changes } };
}

function limit(changes: Input): OrderRequest {
  const { input } = waiting('bad');
  return { mutation: 'placeLimitOrder', input: { ...input, ...changes } };
}

// `JSON.stringify` writes neither, so these stand in for the values that are sent.
const HUGE = 'a number beyond all';
const MINUS_ZERO = 'a zero with a sign';

function asText(order: OrderRequest): string {
  return JSON.stringify(placing(order))
    .replace(`"${HUGE}"`, '1e309')
    .replace(`"${MINUS_ZERO}"`, '-0');
}

const BAD: readonly [name: string, order: OrderRequest, argument: string][] = [
  ['units -1', market({ size: { units: -1 } }), 'input.size.units'],
  ['units 0', market({ size: { units: 0 } }), 'input.size.units'],
  ['units -0', market({ size: { units: MINUS_ZERO } }), 'input.size.units'],
  ['units 1e309', market({ size: { units: HUGE } }), 'input.size.units'],
  ['units "1"', market({ size: { units: '1' } }), 'input.size.units'],
  ['amount -1', market({ size: { amount: -1 } }), 'input.size.amount'],
  ['amount 0', market({ size: { amount: 0 } }), 'input.size.amount'],
  ['amount 1e309', market({ size: { amount: HUGE } }), 'input.size.amount'],
  ['amount "1"', market({ size: { amount: '1' } }), 'input.size.amount'],
  ['both units and amount', market({ size: { units: 1, amount: 1 } }), 'input.size'],
  ['neither units nor amount', market({ size: {} }), 'input.size'],
  ['price 0', market({ price: 0 }), 'input.price'],
  ['price -0', market({ price: MINUS_ZERO }), 'input.price'],
  ['price -1', market({ price: -1 }), 'input.price'],
  ['price 1e309', market({ price: HUGE }), 'input.price'],
  ['stop-loss -1', market({ stopLoss: { price: -1 } }), 'input.stopLoss.price'],
  ['stop-loss amount with units', market({ stopLoss: { amount: 1 } }), 'input.stopLoss.amount'],
  [
    'take-profit amount with units',
    market({ takeProfit: { amount: 1 } }),
    'input.takeProfit.amount',
  ],
  ['both stop-losses', market({ stopLoss: { price: 1, amount: 1 } }), 'input.stopLoss'],
  ['an unknown side', market({ side: 'HOLD' }), 'input.side'],
  ['an empty symbol', market({ symbol: '' }), 'input.symbol'],
  ['an unknown field', market({ leverage: 100 }), 'input.leverage'],
  ['an empty key', market({ idempotencyKey: '' }), 'input.idempotencyKey'],
  ['a key of 256', market({ idempotencyKey: 'k'.repeat(256) }), 'input.idempotencyKey'],
  ['half a character', market({ idempotencyKey: '\ud83d' }), 'input.idempotencyKey'],
  ['limit amount -1', limit({ amount: -1 }), 'input.amount'],
  ['limit amount 0', limit({ amount: 0 }), 'input.amount'],
  ['limit amount -0', limit({ amount: MINUS_ZERO }), 'input.amount'],
  ['limit amount 1e309', limit({ amount: HUGE }), 'input.amount'],
  ['limit amount "1"', limit({ amount: '1' }), 'input.amount'],
  ['limit price 0', limit({ price: 0 }), 'input.price'],
  ['limit price 1e309', limit({ price: HUGE }), 'input.price'],
  ['limit without price', limit({ price: undefined }), 'input.price'],
  ['limit stop-loss -1', limit({ stopLoss: -1 }), 'input.stopLoss'],
  ['limit take-profit 1e309', limit({ takeProfit: HUGE }), 'input.takeProfit'],
  ['an empty key of a limit', limit({ idempotencyKey: '' }), 'input.idempotencyKey'],
];

function errorOf(body: GraphQLBody | 'cut') {
  return body === 'cut' ? null : body.errors?.[0]?.extensions;
}

function orderCalls({ sandbox }: OrderFacade): number {
  return sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder');
}

describe.each(TRANSPORTS)('bad input (%s)', (transport) => {
  test('is refused with the name of the offending value, before anything is sent', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    for (const [name, order, argument] of BAD) {
      const error = errorOf(await client.send(asText(order), { transport }));
      expect(error, name).toMatchObject({ code: 'BAD_USER_INPUT', retryable: false, argument });
    }
    // The token was not even proved.
    expect(facade.sandbox.calls()).toBe(0);
    expect(await client.place(buying('bad'), { transport })).toMatchObject({ replayed: false });
  });

  test('is named by its argument, whatever the variables are called', async () => {
    await using facade = await startOrderFacade();
    const query = `mutation ($units: Float!, $key: String!) {
      placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: $units }, idempotencyKey: $key }) { __typename }
    }`;
    const send = async (variables: Input) =>
      errorOf(await facade.client().send({ query, variables }, { transport }));
    expect(await send({ units: '1', key: 'k' })).toMatchObject({ argument: 'input.size.units' });
    expect(await send({ units: -1, key: 'k' })).toMatchObject({ argument: 'input.size.units' });
    expect(await send({ units: 1 })).toMatchObject({ argument: 'input.idempotencyKey' });
    expect(facade.sandbox.calls()).toBe(0);
  });

  test('that only the gateway can judge is passed on with its refusal', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    const query = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
      __typename ... on OrderOutcome { message } ... on OrderRejected { error }
    } }`;
    const place = async (input: Input) => {
      const body = await client.send({ query, variables: { input } }, { transport });
      return body === 'cut' ? body : body.data?.placeOrder;
    };
    expect(await place(buying('unknown symbol', 'NO.SUCH').input)).toEqual({
      __typename: 'OrderRejected',
      message: 'NO.SUCH is not traded in this group.',
      error: 'UNKNOWN_SYMBOL',
    });
    const comment = 'c'.repeat(10_240);
    expect(await place({ ...buying('long comment').input, comment })).toMatchObject({
      __typename: 'OrderRejected',
      error: 'VALIDATION_FAILED',
    });
    expect(String(facade.sandbox.requests('openPosition').at(-1)?.body)).toContain(comment);
    const longest = 'k'.repeat(255);
    expect(await client.place(buying(longest), { transport })).toMatchObject({
      type: 'OrderAccepted',
    });
  });

  test('a key that another order of the account has is refused, whichever mutation it was', async () => {
    await using facade = await startOrderFacade();
    const [phone, desk] = [facade.client(), facade.client()];
    const first = await phone.place(buying('taken'), { transport });
    const refusal = { code: 'BAD_USER_INPUT', argument: 'input.idempotencyKey' };
    for (const other of [
      buying('taken', 'MSFT'),
      waiting('taken'),
      market({ size: { units: 2 }, comment: 'taken', idempotencyKey: 'taken' }),
      market({ comment: 'another', idempotencyKey: 'taken' }),
    ]) {
      expect(await desk.place(other, { transport })).toMatchObject(refusal);
    }
    expect(orderCalls(facade)).toBe(1);
    const text = asText(buying('taken')).replace('"units":1', '"units":1.0');
    const again = await desk.send(text.replace('"side"', '"kind":"MARKET","price":null,"side"'), {
      transport,
    });
    expect(again).toMatchObject({ data: { answer: { ...typed(first), replayed: true } } });
    expect(orderCalls(facade)).toBe(1);
  });

  test("another account's key is another key, and its order is not visible", async () => {
    await using facade = await startOrderFacade();
    const mine = facade.client();
    const theirs = facade.client({ email: 'user-2@example.com' });
    await mine.place(buying('shared name'), { transport });
    expect(await theirs.placed('shared name', { transport })).toEqual({ kind: 'nothing' });
    expect(await theirs.place(waiting('shared name'), { transport })).toMatchObject({
      type: 'OrderAccepted',
      replayed: false,
    });
    expect(facade.sandbox.orders().map(({ login }) => login)).toEqual([800001, 800002]);
  });

  test('a forged token reserves nothing and learns nothing: the key stays its owner’s', async () => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const owner = facade.client();
    await owner.place(buying('known'), { transport });
    const email = 'user-1@example.com';
    const forged = facade.client({ token: sandbox.token({ email, signature: 'forged' }) });
    const refused = { kind: 'error', code: 'UNAUTHENTICATED' };
    expect(await forged.place(buying('wanted'), { transport })).toMatchObject(refused);
    expect(await forged.place(buying('known'), { transport })).toMatchObject(refused);
    expect(await forged.placed('known', { transport })).toMatchObject(refused);
    const nobody = facade.client({ token: null });
    expect(await nobody.place(buying('wanted'), { transport })).toMatchObject(refused);
    expect(orderCalls(facade)).toBe(1);
    expect(await owner.placed('wanted', { transport })).toEqual({ kind: 'nothing' });
    expect(await owner.place(waiting('wanted'), { transport })).toMatchObject({
      type: 'OrderAccepted',
      replayed: false,
    });
  });
});

function typed(reply: Reply) {
  return reply.kind === 'outcome' ? { __typename: reply.type, orderId: reply.orderId } : reply;
}
