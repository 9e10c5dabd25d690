import { expect, onTestFinished, test } from 'vitest';
import { ACCOUNT_OPERATION } from '../../src/account-operation.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { OrderProgress } from '../../src/orders/ticket.ts';
import { TicketFormStore } from '../../src/react/ticket-form.ts';
import { fakeClient } from '../../src/testing.ts';

const ORDER = { symbol: 'AAPL', side: 'BUY', size: { units: 1 } } as const;

/** Opens a form for a user; `isKnown`: the server has told the client which account this is. */
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
  if (isKnown) await client.query('{ a }', undefined, { account: 'nobody' });
  const store = new TicketFormStore(client);
  const leave = store.subscribe(() => {});
  onTestFinished(() => {
    leave();
    client.dispose();
  });
  const form = () => store.snapshot();
  const signIn = async (login: string | null) => {
    await market.signIn(login);
    await client.tokenChanged();
    await market.pass(0);
  };
  /** An order that is not sent, because the server cannot be reached, or the device is offline. */
  const placeUnsent = async (input: OrderInput = ORDER, isOffline = isKnown) => {
    if (isOffline) market.network.isOnline = false;
    else market.network.reach = 'gone';
    const placing = form().place(input);
    await market.pass(60);
    expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'NETWORK' } });
    Object.assign(market.network, { isOnline: true, reach: 'there' });
  };
  /** The server does not say whose a token is, until it may. */
  const holdAccounts = () => {
    const held = Promise.withResolvers<void>();
    answering = held.promise;
    return held.resolve;
  };
  const retry = async () => {
    const retrying = form().retry();
    await market.pass(0);
    if (market.order !== null) await market.accept();
    return (await retrying)?.status ?? null;
  };
  return { client, market, store, form, signIn, placeUnsent, holdAccounts, retry, thrown };
}

test.each([
  [true, true],
  [false, true],
  [false, false],
])(
  'an order that was not sent is not left to the next account, whether the first one was known: %s, and whether the device was offline: %s',
  async (isKnown, isOffline) => {
    const { form, signIn, placeUnsent, retry } = await shownForm({ isKnown });
    await placeUnsent(ORDER, isOffline);
    expect(form().status).toBe('unsent');
    await signIn('700002');
    expect([form().status, await retry()]).toEqual(['ready', null]);
  },
);

test('a retry places nothing for the next account, though the server has not named it yet', async () => {
  const { client, form, market, signIn, placeUnsent, holdAccounts } = await shownForm();
  await placeUnsent();
  const goOn = holdAccounts();
  await signIn('700002');
  expect([client.login, form().status]).toEqual(['700001', 'unsent']);
  const retrying = form().retry();
  goOn();
  await market.pass(0);
  expect(await retrying).toMatchObject({ status: 'unsent', error: { code: 'SIGNED_OUT' } });
  expect(market.order).toBe(null);
  expect(form().status).toBe('ready');
  const placing = form().place(ORDER);
  await market.accept();
  expect((await placing).status).toBe('accepted');
});

test('an order stays on its screen when its account is named later, also by another token, and while the form is hidden', async () => {
  const { client, store, form, market, placeUnsent, retry } = await shownForm({ isKnown: false });
  await placeUnsent();
  await market.signIn('700001');
  await client.query('{ a }', undefined, { account: 'nobody' });
  store.subscribe(() => {})();
  expect([client.login, form().status, await retry()]).toEqual(['700001', 'unsent', 'accepted']);
});

test('the account that placed it finds it when the server names it, and after a sign-out', async () => {
  const unnamed = await shownForm({ isKnown: false });
  await unnamed.placeUnsent();
  await unnamed.client.query('{ a }', undefined, { account: 'nobody' });
  expect([unnamed.form().status, await unnamed.retry()]).toEqual(['unsent', 'accepted']);
  const { form, signIn, placeUnsent, retry } = await shownForm();
  await placeUnsent();
  await signIn(null);
  await signIn('700001');
  expect([form().status, await retry()]).toEqual(['unsent', 'accepted']);
});

test('an order that nobody was signed in for is not left to who signs in', async () => {
  const { form, signIn } = await shownForm({ isKnown: false });
  await signIn(null);
  expect(await form().place(ORDER)).toMatchObject({ error: { code: 'SIGNED_OUT' } });
  expect(form().status).toBe('unsent');
  await signIn('700001');
  expect(form().status).toBe('ready');
});

test('an order under way is forgotten for the next account, and not sent, where the first one is not known', async () => {
  const { form, signIn, market, holdAccounts } = await shownForm({ isKnown: false });
  const goOn = holdAccounts();
  const placing = form().place(ORDER);
  await market.pass(0);
  await signIn('700002');
  goOn();
  await market.pass(0);
  expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'SIGNED_OUT' } });
  expect(form().status).toBe('ready');
});

test('an order on its way for one account is not shown to the next', async () => {
  const { form, signIn, market } = await shownForm();
  const placing = form().place(ORDER);
  await market.pass(0);
  await signIn('700002');
  await market.accept();
  expect([(await placing).status, form().status]).toEqual(['accepted', 'ready']);
});

test('an order of the account whose login is not known yet stays on its screen', async () => {
  const { form, market, store, signIn, holdAccounts } = await shownForm();
  const goOn = holdAccounts();
  await signIn('700002');
  const placing = form().place(ORDER);
  await market.pass(0);
  // As when the form is hidden for a moment.
  store.subscribe(() => {})();
  goOn();
  await market.accept();
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(form().status).toBe('accepted');
});

test('a retry sends what was placed, whatever becomes of the app’s object', async () => {
  const { form, market, placeUnsent } = await shownForm();
  const input = { ...ORDER, size: { units: 1 }, stopLoss: { price: 5 } };
  const wrong = { ...ORDER, size: [1] } as unknown as OrderInput;
  expect(await form().place(wrong)).toMatchObject({
    error: { code: 'BAD_USER_INPUT', extensions: { argument: 'input.size' } },
  });
  await placeUnsent(input);
  input.size.units = 1_000;
  input.stopLoss.price = 1;
  void form().retry();
  await market.pass(0);
  expect(market.order).toMatchObject({ size: { units: 1 }, stopLoss: { price: 5 } });
  await market.accept();
});

test('an app whose own listener throws sees the progress all the same', async () => {
  const { form, market, thrown } = await shownForm();
  const told: OrderProgress[] = [];
  const onProgress = (progress: OrderProgress) => {
    told.push(progress);
    throw new Error('of the app');
  };
  const placing = form().place(ORDER, { onProgress });
  await market.lose();
  expect(form()).toMatchObject({ status: 'placing', progress: 'asking' });
  await market.accept();
  await placing;
  expect([told, thrown.length]).toEqual([['sending', 'asking'], 2]);
});
