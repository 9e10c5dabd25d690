import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../../../test/support/order-keys.ts';
import { ACCOUNT_OPERATION } from '../../src/account-operation.ts';
import type { Client } from '../../src/create-client.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { FollowedOrder } from '../../src/orders/order-list.ts';
import type { OrderOutcome } from '../../src/orders/outcome.ts';
import type { OrderProgress } from '../../src/orders/ticket.ts';
import { fakeClient } from '../../src/testing.ts';

const ORDER = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
const EDITED = { ...ORDER, size: { units: 2 } };

/** Makes the client ask for its login: a request for another account needs the login, and is then not sent. */
const learnLogin = (client: Client) => client.query('{ a }', undefined, { account: 'nobody' });

/** Opens a form for a user. With `isKnown` the client already knows the account's login. */
async function shownForm({ isKnown = true } = {}) {
  const thrown: unknown[] = [];
  let answering = Promise.resolve();
  const { client, market } = fakeClient({
    client: {
      environment: {
        fetch: async (url, init) => {
          if (JSON.parse(String(init?.body)).query === ACCOUNT_OPERATION) await answering;
          return fetchOf(url, init);
        },
        after: (ms, task) =>
          market.network.time.after(ms, () => {
            try {
              task();
            } catch (error) {
              thrown.push(error);
            }
          }),
      },
    },
  });
  const fetchOf = market.network.environment().fetch;
  if (isKnown) await learnLogin(client);
  const ticket = client.orders.ticket();
  const leave = ticket.follow(() => {});
  onTestFinished(() => {
    leave();
    client.dispose();
  });
  const form = () => ticket.state();
  const signIn = async (login: string | null) => {
    await market.signIn(login);
    await client.tokenChanged();
    await market.pass(0);
  };
  /** Places an order that is not sent, because the device is offline or the server cannot be reached. */
  const placeUnsent = async (input: OrderInput = ORDER, isOffline = isKnown) => {
    if (isOffline) market.network.isOnline = false;
    else market.network.reach = 'gone';
    const placing = ticket.place(input);
    await market.pass(60);
    expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'NETWORK' } });
    Object.assign(market.network, { isOnline: true, reach: 'there' });
  };
  /** Delays the answers that name the account of a token. Returns the function that releases them. */
  const holdAccounts = () => {
    const held = Promise.withResolvers<void>();
    answering = held.promise;
    return held.resolve;
  };
  const retry = async () => {
    const retrying = ticket.retry();
    await market.pass(0);
    if (market.order !== null) await market.accept();
    return (await retrying)?.status ?? null;
  };
  return { client, market, ticket, form, signIn, placeUnsent, holdAccounts, retry, thrown };
}

test.each([
  [true, true],
  [false, true],
  [false, false],
])(
  'the next account cannot retry an unsent order; the first account was known: %s, the device was offline: %s',
  async (isKnown, isOffline) => {
    const { form, signIn, placeUnsent, retry } = await shownForm({ isKnown });
    await placeUnsent(ORDER, isOffline);
    expect(form().status).toBe('unsent');
    await signIn('700002');
    expect([form().status, await retry()]).toEqual(['ready', null]);
  },
);

test('a retry places nothing for the next account, even before the server has named that account', async () => {
  const { client, ticket, form, market, signIn, placeUnsent, holdAccounts } = await shownForm();
  await placeUnsent();
  const releaseAccounts = holdAccounts();
  await signIn('700002');
  expect([client.login, form().status]).toEqual(['700001', 'unsent']);
  const retrying = ticket.retry();
  releaseAccounts();
  await market.pass(0);
  expect(await retrying).toMatchObject({ status: 'unsent', error: { code: 'SIGNED_OUT' } });
  expect(market.order).toBe(null);
  expect(form().status).toBe('ready');
  const placing = ticket.place(ORDER);
  await market.accept();
  expect((await placing).status).toBe('accepted');
});

test('an unsent order stays in its form when the server names its account, and when that account signs in again', async () => {
  const unnamed = await shownForm({ isKnown: false });
  await unnamed.placeUnsent();
  await learnLogin(unnamed.client);
  expect([unnamed.form().status, await unnamed.retry()]).toEqual(['unsent', 'accepted']);
  const { form, signIn, placeUnsent, retry } = await shownForm();
  await placeUnsent();
  await signIn(null);
  await signIn('700001');
  expect([form().status, await retry()]).toEqual(['unsent', 'accepted']);
});

test('the next user does not see an order that was placed while no user was signed in', async () => {
  const { ticket, form, signIn } = await shownForm({ isKnown: false });
  await signIn(null);
  expect(await ticket.place(ORDER)).toMatchObject({ error: { code: 'SIGNED_OUT' } });
  expect(form().status).toBe('unsent');
  await signIn('700001');
  expect(form().status).toBe('ready');
});

test('an order that is under way for one account is not shown to the next account', async () => {
  const { ticket, form, signIn, market } = await shownForm();
  const placing = ticket.place(ORDER);
  await market.pass(0);
  await signIn('700002');
  await market.accept();
  expect([(await placing).status, form().status]).toEqual(['accepted', 'ready']);
});

test('a retry sends the input as it was placed, even if the app has changed the object since', async () => {
  const { ticket, form, market, placeUnsent } = await shownForm();
  const input = { ...ORDER, size: { units: 1 }, stopLoss: { price: 5 } };
  const wrong = { ...ORDER, size: [1] } as unknown as OrderInput;
  expect(await ticket.place(wrong)).toMatchObject({
    error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.size' } },
  });
  await ticket.place({ ...ORDER, kind: undefined } as unknown as OrderInput);
  expect(form().outcome).toMatchObject({ error: { extensions: { argument: 'input.kind' } } });
  await placeUnsent(input);
  input.size.units = 1_000;
  input.stopLoss.price = 1;
  void ticket.retry();
  await market.pass(0);
  expect(market.order).toMatchObject({ size: { units: 1 }, stopLoss: { price: 5 } });
  await market.accept();
});

test('an app whose listener throws still gets the progress', async () => {
  const { ticket, form, market, thrown } = await shownForm();
  const steps: OrderProgress[] = [];
  const onProgress = (progress: OrderProgress) => {
    steps.push(progress);
    throw new Error('of the app');
  };
  const placing = ticket.place(ORDER, { onProgress });
  await market.lose();
  expect(form()).toMatchObject({ status: 'placing', progress: 'asking' });
  await market.accept();
  await placing;
  expect([steps, thrown.length]).toEqual([['sending', 'asking'], 2]);
});

test.each([
  ['edited', EDITED],
  ['without a kind', { ...EDITED, kind: undefined } as unknown as OrderInput],
])(
  'an input that is %s gets the outcome of the first order while that order is under way or in doubt',
  async (_, edited) => {
    const { ticket, form, market } = await shownForm();
    const placing = ticket.place(ORDER);
    await market.pass(0);
    const { idempotencyKey } = ticket;
    const underWay = { status: 'unknown', idempotencyKey, error: { code: 'UNDER_WAY' } };
    expect(await ticket.place(edited)).toMatchObject(underWay);
    expect(form()).toMatchObject({ status: 'placing', outcome: null });
    await market.leaveUnknown();
    const outcome = (await placing) as Extract<OrderOutcome, { status: 'unknown' }>;
    const inDoubt = { ...outcome, error: { code: 'IN_DOUBT' } };
    expect(await ticket.place(edited)).toMatchObject(inDoubt);
    expect(form()).toEqual({ status: 'unknown', outcome });
    expect(market.order).toBe(null);
    void ticket.retry();
    await market.accept();
    expect(form().status).toBe('accepted');
    expect(await ticket.place(edited)).toMatchObject({ status: 'unsent' });
    expect(form().status).toBe('accepted');
  },
);

test('a screen that is opened again shows the orders since the app started, under way and settled', async () => {
  const { client, ticket, market, signIn } = await shownForm();
  const lists: (readonly FollowedOrder[])[] = [];
  const leave = client.orders.follow((orders) => lists.push(orders));
  expect(lists).toEqual([[]]);
  void ticket.place(ORDER);
  await market.pass(0);
  leave();
  expect(lists).toHaveLength(2);
  const [order] = client.orders.state();
  expect(order).toEqual({ key: ticket.idempotencyKey, input: ORDER, outcome: null, ticket });
  expect(await client.orders.resume()).toEqual([]);
  await market.accept();
  expect(client.orders.state()).toMatchObject([{ input: ORDER, outcome: { status: 'accepted' } }]);
  expect(client.orders.state()).toBe(client.orders.state());
  // The same form places a second order.
  ticket.reset();
  void ticket.place(EDITED);
  await market.reject('No money.');
  const [, second] = client.orders.state();
  expect(second).toMatchObject({ input: EDITED, outcome: { status: 'rejected' } });
  await signIn('700002');
  expect(client.orders.state()).toEqual([]);
  await signIn('700001');
  expect(client.orders.state()).toEqual([]);
});

test('a tap after an expired order places another order, whose input may differ', async () => {
  const { ticket, form, market } = await shownForm();
  const { idempotencyKey } = ticket;
  const taps = [ticket.place(ORDER), ticket.place(ORDER)];
  await market.leaveUnsent('EXPIRED');
  const expired = { status: 'unsent', idempotencyKey, error: { code: 'EXPIRED' } };
  expect(await Promise.all(taps)).toMatchObject([expired, expired]);
  expect([form().status, ticket.idempotencyKey === idempotencyKey]).toEqual(['unsent', false]);
  void ticket.place(EDITED);
  await market.accept();
  expect(form().status).toBe('accepted');
});

test('a given key is that of the first order alone: after a reset the ticket has another', async () => {
  const { client, market } = await shownForm();
  const idempotencyKey = newKey();
  const ticket = client.orders.ticket({ idempotencyKey });
  void ticket.place(ORDER);
  await market.accept();
  expect(ticket.idempotencyKey).toBe(idempotencyKey);
  ticket.reset();
  expect(ticket.idempotencyKey).not.toBe(idempotencyKey);
});

test('at most a hundred orders are kept, and an order under way is never dropped', async () => {
  const { client, market } = await shownForm();
  void client.orders.ticket().place(ORDER);
  await market.pass(0);
  market.network.isOnline = false;
  for (let count = 0; count < 120; count += 1) await client.orders.ticket().place(EDITED);
  const held = client.orders.state();
  expect([held.length, held[0]?.outcome, held[0]?.input]).toEqual([100, null, ORDER]);
});
