import { expect, test } from 'vitest';
import { keyOf } from '../../support/order-keys.ts';
import type { OrderClient, SendOptions } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import {
  type GraphQLMessage,
  limitOrder,
  marketOrder,
  type OrderRequest,
  placeMutation,
} from './order-request.ts';

const READ = '{ positions { id } orders { id } session { balance orders { id } } }';
const SELECTION = `{ __typename ... on OrderAccepted ${READ} ... on OrderOutcomeUnknown ${READ} ... on OrderRejected { error } }`;

interface OrderAnswer {
  readonly __typename: string;
  readonly positions: readonly { readonly id: string }[];
  readonly orders: readonly { readonly id: string }[];
  readonly session: { readonly orders: readonly { readonly id: string }[] };
}

async function ask(client: OrderClient, message: string | GraphQLMessage, options?: SendOptions) {
  const sent = typeof message === 'string' ? { query: message, variables: {} } : message;
  const body = await client.send(sent, options);
  if (body === 'cut' || body.errors) throw new Error(JSON.stringify(body));
  return body.data as Readonly<Record<string, OrderAnswer>>;
}

/** Places an order; returns its outcome with the fields that are read after it. */
const order = async (client: OrderClient, request: OrderRequest, options?: SendOptions) =>
  (await ask(client, placeMutation(request, SELECTION), options)).answer;

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

test.each(['http', 'socket'] as const)(
  'the fields selected on an order are read after it, with one call for each list (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    await ask(client, '{ session { balance } positions { id } }', { transport });
    sandbox.clearCalls();

    const bought = await order(client, marketOrder('one'), { transport });
    const begun = sandbox.requests().filter(({ isCounted }) => isCounted);
    const calls = begun.map(({ operation }) => operation);
    expect(calls[0]).toBe('openPosition');
    expect(calls.slice(1).toSorted()).toEqual(['getOpenPositions', 'getSession']);
    expect(ids(bought?.positions ?? [])).toContain(sandbox.orders()[0]?.orderId);

    const placed = await order(client, limitOrder('two'), { transport });
    const pending = sandbox.orders()[1]?.orderId;
    expect(ids(placed?.orders ?? [])).toContain(pending);
    expect(ids(placed?.session.orders ?? [])).toContain(pending);
    expect(sandbox.calls()).toBe(6);
  },
);

test('an order with an unknown outcome, its repeat and `placedOrder` are followed by fresh reads too', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const [phone, desk] = [facade.client(), facade.client()];
  await ask(desk, '{ session { balance orders { id } } positions { id } }');
  const limit = limitOrder('unsure', 'TEST.UNKNOWN');
  const placed = await order(phone, limit);
  const asked = await ask(
    desk,
    `{ order: placedOrder(idempotencyKey: "${keyOf('unsure')}") ${SELECTION} }`,
  );
  const orderId = sandbox.orders()[0]?.orderId;
  for (const answer of [placed, asked.order, await order(desk, limit)]) {
    expect(answer?.__typename).toBe('OrderOutcomeUnknown');
    expect(ids(answer?.orders ?? [])).toContain(orderId);
    expect(ids(answer?.session.orders ?? [])).toContain(orderId);
  }
  expect(sandbox.calls('placeLimitOrder')).toBe(1);
});

test('each of two orders in a document is followed by its own reads', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const { one, two } = await ask(facade.client(), {
    query: `mutation ($one: PlaceLimitOrderInput!, $two: PlaceLimitOrderInput!) {
      one: placeLimitOrder(input: $one) ${SELECTION} two: placeLimitOrder(input: $two) ${SELECTION}
    }`,
    variables: { one: limitOrder('1').input, two: limitOrder('2').input },
  });
  const [first, second] = sandbox.orders().map(({ orderId }) => orderId);
  expect(ids(one?.orders ?? [])).toContain(first);
  expect(ids(one?.orders ?? [])).not.toContain(second);
  expect(ids(two?.orders ?? [])).toEqual(expect.arrayContaining([first, second]));
  const calls = sandbox.requests().map(({ operation }) => operation?.replace(/^get.*/, 'read'));
  const orderAndReads = ['placeLimitOrder', 'read', 'read'];
  // The first read proves the token.
  expect(calls).toEqual(['read', ...orderAndReads, ...orderAndReads]);
});
