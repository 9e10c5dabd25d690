import { beforeEach, expect, test } from 'vitest';
import { startedOnce } from '../../../test/support/started.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { PlaceOptions } from '../../src/orders/ticket.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { buying, startPhone } from '../support/phone.ts';

const phone = startedOnce(startPhone);
beforeEach(() => {
  phone.storage.entries.clear();
  phone.app.sandbox.clearCalls();
});

const applied = (comment: string) =>
  phone.app.sandbox.orders().filter((order) => order.comment === comment);

test('an order that the gateway takes is accepted, and its key is deleted', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  expect(ticket.isDurable).toBe(true);
  const outcome = await ticket.place(buying('taken'));
  expect(outcome).toEqual({
    status: 'accepted',
    idempotencyKey: ticket.idempotencyKey,
    orderId: applied('taken')[0]?.orderId,
    message: expect.anything(),
    replayed: false,
  });
  expect(phone.storage.entries.size).toBe(0);
  expect(await ticket.place(buying('taken'))).toEqual(outcome);
  expect(applied('taken')).toHaveLength(1);
});

test('an order that the gateway refuses is rejected, and its key is deleted', async () => {
  const { orders } = phone.open();
  const outcome = await orders.ticket().place(buying('refused', 'TEST.REJECT'));
  expect(outcome).toMatchObject({ status: 'rejected', error: 'TEST_REJECT', replayed: false });
  expect(phone.storage.entries.size).toBe(0);
});

test('an order whose outcome nobody knows is unknown, keeps its key and is not sent again', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  const outcome = await ticket.place(buying('nobody knows', 'TEST.UNKNOWN'));
  expect(outcome).toMatchObject({ status: 'unknown', error: null });
  expect(phone.storage.entries.size).toBe(1);
  expect(await ticket.place(buying('nobody knows', 'TEST.UNKNOWN'))).toEqual(outcome);
  expect(phone.app.sandbox.calls('openPosition')).toBe(1);
});

test('a double tap is one order, and one request', async () => {
  const { orders, sent } = phone.open();
  const ticket = orders.ticket();
  const [first, second] = await Promise.all([
    ticket.place(buying('double')),
    ticket.place({ ...buying('double') }),
  ]);
  expect(first).toEqual(second);
  expect(sent).toHaveLength(1);
  expect(applied('double')).toHaveLength(1);
});

test('two tickets are two orders, however alike', async () => {
  const { orders } = phone.open();
  await Promise.all([orders.ticket().place(buying('twin')), orders.ticket().place(buying('twin'))]);
  expect(applied('twin')).toHaveLength(2);
});

test('a kind that was meant for an order at the market is refused of a limit order', async () => {
  const { orders } = phone.open();
  const input = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, kind: 'MARKET' } as const;
  expect(await orders.ticket().placeLimit(input)).toMatchObject({
    status: 'unsent',
    error: { code: 'BAD_USER_INPUT' },
  });
  expect(phone.app.sandbox.calls('placeLimitOrder')).toBe(0);
});

test('a limit order goes by placeLimitOrder, and waits for its price', async () => {
  const { orders } = phone.open();
  const input = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment: 'later' } as const;
  const ticket = orders.ticket();
  expect(await ticket.placeLimit(input)).toMatchObject({ status: 'accepted' });
  expect(phone.app.sandbox.calls('placeLimitOrder')).toBe(1);
});

test('another input is refused where the ticket was placed, or is being placed', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  const placing = ticket.place(buying('bound'));
  const refused = {
    status: 'unsent',
    error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.idempotencyKey' } },
  };
  const dearer = { ...buying('bound'), size: { units: 2 } };
  expect(await ticket.place(dearer)).toMatchObject(refused);
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(await ticket.place(dearer)).toMatchObject(refused);
  expect(
    await ticket.placeLimit({ symbol: 'AAPL', side: 'BUY', amount: 1, price: 1, comment: 'bound' }),
  ).toMatchObject(refused);
  expect(applied('bound')).toHaveLength(1);
});

test('an order says whether it waits for a price, also where the app does not', async () => {
  const { orders, sent } = phone.open();
  const place = (fields: Partial<OrderInput>) =>
    orders.ticket().place({ ...buying('kinds'), ...fields });
  await place({});
  await place({ price: 1 });
  await place({ kind: 'PENDING', price: 1 });
  await place({ kind: 'MARKET', price: null as unknown as undefined });
  expect(sent).toMatchObject(
    ['MARKET', 'PENDING', 'PENDING', 'MARKET'].map((kind) => ({ input: { kind } })),
  );
  const refused = {
    status: 'unsent',
    error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.price' } },
  };
  expect(await place({ kind: 'PENDING' })).toMatchObject(refused);
  expect(await place({ kind: 'MARKET', price: 1 })).toMatchObject(refused);
});

test.each(['price', 'stopLoss', 'takeProfit'])(
  'a %s that is null is refused before anything is sent',
  async (name) => {
    const { orders, sent } = phone.open();
    expect(await orders.ticket().place({ ...buying('null'), [name]: null })).toMatchObject({
      status: 'unsent',
      error: {
        code: 'BAD_USER_INPUT',
        message: expect.stringContaining('leave it out for none'),
        extensions: { argument: `input.${name}` },
      },
    });
    expect(sent).toEqual([]);
  },
);

test('a form that breaks a rule may be corrected under the same ticket', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  expect(await ticket.place({ ...buying('corrected'), size: { units: -1 } })).toMatchObject({
    status: 'unsent',
    error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.size.units' } },
  });
  expect(phone.storage.entries.size).toBe(0);
  expect(await ticket.place(buying('corrected'))).toMatchObject({ status: 'accepted' });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'a price of %s never becomes an order at the market',
  async (price) => {
    const { orders, sent } = phone.open();
    expect(await orders.ticket().place({ ...buying('no price'), price })).toMatchObject({
      status: 'unsent',
      error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.price' } },
    });
    expect(sent).toEqual([]);
  },
);

test.each([
  ['a time below nothing is none', { withinMs: -60_000 }, 'unsent'],
  ['a time without measure is the longest one', { withinMs: Number.MAX_SAFE_INTEGER }, 'accepted'],
  ['no options are those by default', null, 'accepted'],
])('%s', async (_, options, status) => {
  const { orders, sent } = phone.open();
  const outcome = await orders.ticket().place(buying('options'), options as PlaceOptions);
  expect(outcome).toMatchObject({ status });
  expect(sent).toHaveLength(status === 'accepted' ? 1 : 0);
});

test('an error of the app’s own listener is reported by the platform, and the order placed', async () => {
  const reported: unknown[] = [];
  const { after } = countedEnvironment();
  const reporting = (task: () => void) => () => {
    try {
      task();
    } catch (thrown) {
      reported.push(thrown);
    }
  };
  const own = { after: (ms: number, task: () => void) => after(ms, reporting(task)) };
  const { orders } = phone.open({}, own);
  const thrown = new Error('the app’s');
  const onProgress = () => {
    throw thrown;
  };
  expect(await orders.ticket().place(buying('told'), { onProgress })).toMatchObject({
    status: 'accepted',
  });
  expect(reported).toEqual([thrown]);
});

test('an input that is changed while its order is repeated does not change the order', async () => {
  const { orders, sent } = phone.open();
  const input = { ...buying('as it was'), size: { units: 1 } };
  phone.line.next.push('lost');
  const placing = orders.ticket().place(input);
  input.size.units = 1_000;
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(sent).toEqual(Array(2).fill({ input: expect.objectContaining({ size: { units: 1 } }) }));
});

test('a key that an object from elsewhere carries is not used', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  const input = { ...buying('own key'), idempotencyKey: 'another' };
  expect(await ticket.place(input)).toMatchObject({
    status: 'accepted',
    idempotencyKey: ticket.idempotencyKey,
  });
});

test('nothing is stored but digest and times under account and key', async () => {
  const { orders, core } = phone.open();
  const ticket = orders.ticket();
  await ticket.place(buying('a secret note', 'TEST.UNKNOWN'));
  const [[name, text] = ['', '']] = phone.storage.entries;
  expect(name).toBe(`orders/${await core.account()}/${ticket.idempotencyKey}`);
  expect(JSON.parse(text)).toEqual({
    digest: expect.any(String),
    at: expect.any(Number),
    made: expect.any(Number),
    sendBefore: expect.stringMatching(/Z$/),
  });
});

test('without storage the order is sent, and the ticket says that it would not survive', async () => {
  const { orders } = phone.open({ storage: null });
  const ticket = orders.ticket();
  expect(ticket.isDurable).toBe(false);
  expect(await ticket.place(buying('volatile'))).toMatchObject({ status: 'accepted' });
  expect(await orders.resume()).toEqual([]);
});
