import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedOnce } from '../../../test/support/started.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { PlaceOptions } from '../../src/orders/ticket.ts';
import { CUTS } from '../support/order-line.ts';
import { ACCEPTED, buying, LIMIT, startPhone, unsent } from '../support/phone.ts';

const phone = startedOnce(startPhone);
beforeEach(() => {
  phone.storage.entries.clear();
  phone.app.sandbox.clearCalls();
});

/** The gateway's orders with this comment. */
const placedWith = (comment: string) =>
  phone.app.sandbox.orders().filter((order) => order.comment === comment);

test.each(['none', ...CUTS] as const)(
  'an accepted order is placed once and its outcome is stored, even if the connection is cut: %s',
  async (cut) => {
    const { orders } = phone.open();
    const ticket = orders.ticket({ maxWaitMs: 60_000 });
    phone.line.next.push(cut);
    const outcome = await ticket.place(buying(cut));
    const { idempotencyKey } = ticket;
    const [{ orderId } = {}, ...others] = placedWith(cut);
    expect(outcome).toMatchObject({ ...ACCEPTED, idempotencyKey, orderId });
    expect(await ticket.place(buying(cut))).toEqual(outcome);
    expect(others).toEqual([]);
    const kept = () => [...phone.storage.entries.values()].map((text) => JSON.parse(text).outcome);
    await eventually(() => expect(kept()).toContainEqual(outcome));
  },
);

test('`placeLimit` sends `placeLimitOrder`, and refuses an order of kind MARKET', async () => {
  const { orders } = phone.open();
  const market = { ...LIMIT, kind: 'MARKET' };
  expect(await orders.ticket().placeLimit(market)).toMatchObject(unsent('BAD_USER_INPUT'));
  expect(phone.app.sandbox.calls('placeLimitOrder')).toBe(0);
  expect(await orders.ticket().placeLimit(LIMIT)).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.calls('placeLimitOrder')).toBe(1);
});

const LEFT_OUT = { message: expect.stringContaining('leave it out for none') };

test.each<[object, string, object?]>([
  [{ stopLoss: null }, 'stopLoss', LEFT_OUT],
  [{ takeProfit: null }, 'takeProfit', LEFT_OUT],
  [{ stopLoss: { price: null } }, 'stopLoss.price', LEFT_OUT],
  [{ kind: 'PENDING', price: null }, 'price', LEFT_OUT],
  [{ kind: null }, 'kind', { message: expect.stringContaining('is missing') }],
  [{ kind: undefined, price: 1 }, 'kind'],
  [{ price: Number.NaN }, 'price'],
  [{ price: Number.POSITIVE_INFINITY }, 'price'],
])('an order with %o is refused for its %s, and not sent', async (fields, name, more) => {
  const { orders, sent } = phone.open();
  const extensions = { argument: `input.${name}` };
  expect(
    await orders.ticket().place({ ...buying('refused'), ...fields } as OrderInput),
  ).toMatchObject(unsent('BAD_USER_INPUT', { extensions, ...more }));
  expect(sent).toEqual([]);
});

test.each<[object, string]>([
  [{ size: { units: -1 } }, 'size.units'],
  [{ kind: 'PENDING' }, 'price'],
  [{ kind: 'MARKET', price: 1 }, 'price'],
])('a form with %o can be corrected under the same ticket', async (fields, name) => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  expect(await ticket.place({ ...buying('corrected'), ...fields } as OrderInput)).toMatchObject(
    unsent('BAD_USER_INPUT', { extensions: { argument: `input.${name}` } }),
  );
  expect(await ticket.place(buying('corrected'))).toMatchObject(ACCEPTED);
});

test('an input with reordered fields, or with undefined and null for none, is the same order, also with null as the options', async () => {
  const { orders, sent } = phone.open();
  const ticket = orders.ticket();
  const { symbol, side, size, kind } = buying('again');
  const outcome = await ticket.place({ symbol, side, kind, size });
  const none = { price: null, comment: null, stopLoss: undefined };
  const again = { size: { units: 1, amount: undefined }, side, kind, symbol, ...none };
  expect(
    await ticket.place(again as unknown as OrderInput, null as unknown as PlaceOptions),
  ).toEqual(outcome);
  expect(outcome).toMatchObject(ACCEPTED);
  expect(sent).toHaveLength(1);
});

test('an idempotency key in the input is ignored', async () => {
  const { orders } = phone.open();
  const ticket = orders.ticket();
  const input = { ...buying('own key'), idempotencyKey: 'another' };
  const outcome = await ticket.place(input);
  expect(outcome).toMatchObject({ ...ACCEPTED, idempotencyKey: ticket.idempotencyKey });
  const again = { ...input, idempotencyKey: 'a third' };
  expect(await ticket.place(again)).toEqual(outcome);
});

test('only a digest and times are stored, by account and key', async () => {
  const { orders, core } = phone.open();
  const ticket = orders.ticket();
  await ticket.place(buying('a secret note', 'TEST.UNKNOWN'));
  const name = `orders/${await core.account()}/${ticket.idempotencyKey}`;
  expect(JSON.parse(phone.storage.entries.get(name) ?? '')).toEqual({
    digest: expect.any(String),
    at: expect.any(Number),
    made: expect.any(Number),
    sendBefore: expect.stringMatching(/Z$/),
  });
});

test('without storage the order is sent, and the ticket is not durable', async () => {
  const { orders } = phone.open({ storage: null });
  const ticket = orders.ticket();
  expect(ticket.isDurable).toBe(false);
  expect(await ticket.place(buying('volatile'))).toMatchObject(ACCEPTED);
  expect(await orders.resume()).toEqual([]);
});
