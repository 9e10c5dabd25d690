import { expect, test } from 'vitest';
import type { OrderClient, SendOptions } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type OrderRequest, waiting } from './order-request.ts';

const READ = '{ positions { id } orders { id } session { balance orders { id } } }';
const SELECTION = `{ __typename ... on OrderAccepted ${READ} ... on OrderOutcomeUnknown ${READ} ... on OrderRejected { error } }`;

interface Afterwards {
  readonly __typename: string;
  readonly positions: readonly { readonly id: string }[];
  readonly orders: readonly { readonly id: string }[];
  readonly session: { readonly orders: readonly { readonly id: string }[] };
}

async function ask(client: OrderClient, query: string, options?: SendOptions) {
  const body = await client.send({ query, variables: {} }, options);
  if (body === 'cut' || body.errors) throw new Error(JSON.stringify(body));
  return body.data as Readonly<Record<string, Afterwards>>;
}

/** The order written into the document, with the selection read after it. */
function field({ mutation, input }: OrderRequest, selection = SELECTION): string {
  const { symbol, comment, idempotencyKey } = input;
  const size =
    mutation === 'placeOrder'
      ? 'size: { units: 1 }'
      : `amount: ${input.amount}, price: ${input.price}`;
  const text = [symbol, comment, idempotencyKey].map((each) => JSON.stringify(each));
  return `${mutation}(input: { symbol: ${text[0]}, side: BUY, ${size}, comment: ${text[1]}, idempotencyKey: ${text[2]} }) ${selection}`;
}

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

test.each(['http', 'socket'] as const)(
  'what is selected on an order is read after it, each read once (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    await ask(client, '{ session { balance } positions { id } }', { transport });
    sandbox.clearCalls();

    const bought = await ask(client, `mutation { order: ${field(buying('one'))} }`, { transport });
    const calls = sandbox.requests().map(({ operation }) => operation);
    expect(calls[0]).toBe('openPosition');
    expect(calls.slice(1).toSorted()).toEqual(['getOpenPositions', 'getSession']);
    expect(ids(bought.order?.positions ?? [])).toContain(sandbox.orders()[0]?.orderId);

    const placed = await ask(client, `mutation { order: ${field(waiting('two'))} }`, { transport });
    const pending = sandbox.orders()[1]?.orderId;
    expect(ids(placed.order?.orders ?? [])).toContain(pending);
    expect(ids(placed.order?.session.orders ?? [])).toContain(pending);
    expect(sandbox.calls()).toBe(6);
  },
);

test('an order with an unknown outcome returns the present positions and orders', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  await ask(client, '{ session { balance } positions { id } }');
  const { order } = await ask(client, `mutation { order: ${field(waiting('a', 'TEST.UNKNOWN'))} }`);
  expect(order?.__typename).toBe('OrderOutcomeUnknown');
  expect(ids(order?.orders ?? [])).toContain(sandbox.orders()[0]?.orderId);
  const other = await ask(client, `mutation { order: ${field(buying('b', 'TEST.UNKNOWN'))} }`);
  expect(ids(other.order?.positions ?? [])).toContain(sandbox.orders()[1]?.orderId);
});

test('two orders of one document are each followed by reads of their own', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  const { one, two } = await ask(
    client,
    `mutation { one: ${field(waiting('1'))} two: ${field(waiting('2'))} }`,
  );
  const [first, second] = sandbox.orders().map(({ orderId }) => orderId);
  expect(ids(one?.orders ?? [])).toContain(first);
  expect(ids(one?.orders ?? [])).not.toContain(second);
  expect(ids(two?.orders ?? [])).toEqual(expect.arrayContaining([first, second]));
  expect(sandbox.requests().map(({ operation }) => operation)).toEqual([
    'getSession',
    'placeLimitOrder',
    expect.stringMatching(/^get/),
    expect.stringMatching(/^get/),
    'placeLimitOrder',
    expect.stringMatching(/^get/),
    expect.stringMatching(/^get/),
  ]);
});

test('an answer from the record reads afresh as well', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const [phone, desk] = [facade.client(), facade.client()];
  await ask(desk, '{ session { balance orders { id } } positions { id } }');
  await phone.place(waiting('unsure', 'TEST.UNKNOWN'));
  const orderId = sandbox.orders()[0]?.orderId;
  const asked = await ask(desk, `{ order: placedOrder(idempotencyKey: "unsure") ${SELECTION} }`);
  expect(asked.order?.__typename).toBe('OrderOutcomeUnknown');
  expect(ids(asked.order?.orders ?? [])).toContain(orderId);
  expect(ids(asked.order?.session.orders ?? [])).toContain(orderId);
  const again = await ask(desk, `mutation { order: ${field(waiting('unsure', 'TEST.UNKNOWN'))} }`);
  expect(ids(again.order?.orders ?? [])).toContain(orderId);
  expect(sandbox.calls('placeLimitOrder')).toBe(1);
});
