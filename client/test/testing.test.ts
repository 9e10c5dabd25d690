import { expect, onTestFinished, test, vi } from 'vitest';
import { startTestApp } from '../../test/support/app.ts';
import type { OrderProgress } from '../src/orders/ticket.ts';
import { type FakeOptions, fakeClient, sandboxToken } from '../src/testing.ts';

const ORDER = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
const AAPL = { id: '1', symbol: 'AAPL', side: 'BUY', units: 2, priceOpen: 100, profit: 0 } as const;

/** A fake whose client follows the account. */
async function followed(options: FakeOptions = { positions: [AAPL] }) {
  const fake = fakeClient(options);
  fake.client.account(() => {});
  await fake.market.pass(0);
  return { ...fake, state: fake.client.account.state };
}

/** Places an order. Returns the progress that it reports, and its outcome. */
function placed({ client }: Pick<ReturnType<typeof fakeClient>, 'client'>) {
  const steps: OrderProgress[] = [];
  const onProgress = (step: OrderProgress) => void steps.push(step);
  return { steps, outcome: client.orders.ticket().place(ORDER, { onProgress }) };
}

test('a test can move prices, open and close positions, and let the gateway fail', async () => {
  const { market, state } = await followed();
  expect(state()).toMatchObject({ status: 'LIVE', positions: [{ profit: 0, comment: null }] });
  // Two units were bought at 100.
  await market.move('AAPL', 103);
  expect(state().positions).toMatchObject([{ priceCurrent: 103, profit: 6 }]);
  await market.change({ id: '2', symbol: 'TSLA', profit: -1 });
  expect(state().positions?.map(({ symbol }) => symbol)).toEqual(['AAPL', 'TSLA']);
  await market.close('1');
  expect(state()).toMatchObject({ positions: [{ id: '2' }], totals: { count: 1, profit: -1 } });
  await market.delay();
  expect(state().status).toBe('DELAYED');
  await market.delay(false);
  expect(state().status).toBe('LIVE');
});

test('a test can accept, reject or refuse an order, and leave it unsent or unknown', async () => {
  const fake = fakeClient();
  const { market } = fake;
  const ends = [
    [() => market.accept('5'), { status: 'accepted', orderId: '5' }],
    [() => market.reject('No money.', 'NO_MONEY'), { status: 'rejected', error: 'NO_MONEY' }],
    [() => market.leaveUnknown(), { status: 'unknown', error: null }],
    [() => market.leaveUnsent('EXPIRED'), { status: 'unsent', error: { code: 'EXPIRED' } }],
    [() => market.fail('FORBIDDEN'), { status: 'unsent', error: { code: 'FORBIDDEN' } }],
  ] as const;
  for (const [end, expected] of ends) {
    const { outcome } = placed(fake);
    await market.pass(0);
    expect(market.order).toMatchObject({ symbol: 'AAPL', kind: 'MARKET' });
    await end();
    expect(await outcome).toMatchObject(expected);
    expect(market.order).toBeNull();
  }
});

test('an accepted order appears in the account, also in the app that starts after a kill', async () => {
  const { client, market, open } = fakeClient({ positions: [AAPL], orders: [], session: {} });
  await market.move('TSLA', 50);
  client.account(() => {});
  void client.orders.ticket().place({ ...ORDER, symbol: 'TSLA' });
  void client.orders.ticket().place(ORDER);
  await market.pass(0);
  // The gateway accepts the first order while the app is dead, and rejects the second when the app has started again.
  market.network.kill();
  await market.accept();
  market.kill();
  const next = open();
  next.account(() => {});
  const resumed = next.orders.resume();
  await market.reject('No money.');
  expect(await resumed).toMatchObject([
    { outcome: { orderId: '2', replayed: true } },
    { outcome: { status: 'rejected' } },
  ]);
  const waiting = next.orders.ticket().place({ ...ORDER, kind: 'PENDING', price: 7 });
  await market.accept('9');
  expect(await waiting).toMatchObject({ orderId: '9' });
  expect(next.account.state()).toMatchObject({
    positions: [{ id: '1' }, { id: '2', symbol: 'TSLA', units: 1, priceOpen: 50, profit: 0 }],
    orders: [{ id: '9', symbol: 'AAPL', priceOpen: 7 }],
    totals: { count: 2 },
  });
});

test('an order whose answers are lost reports each step of its progress at once', async () => {
  const fake = fakeClient();
  const { steps, outcome } = placed(fake);
  await fake.market.lose();
  expect(steps).toEqual(['sending', 'asking']);
  while (steps.at(-1) !== 'closing') await fake.market.lose();
  await fake.market.leaveUnsent();
  expect(await outcome).toMatchObject({ status: 'unsent', error: { code: 'VOIDED' } });
  // If the server refuses the repeat, the order is not repeated again.
  const refused = placed(fake);
  await fake.market.lose();
  await fake.market.fail('FORBIDDEN');
  await fake.market.pass(0);
  expect(refused.steps).toEqual(['sending', 'asking', 'closing']);
});

test('the app’s own operations get the data of the option `data`, or of later calls of `answer`', async () => {
  const data = (query: string) => (query.includes('balance') ? { balance: 1 } : undefined);
  const { client, market } = fakeClient({ data });
  expect((await client.query('{ balance }')).data).toEqual({ balance: 1 });
  const parts: unknown[] = [];
  const onPart = ({ data }: { data: unknown }) => void parts.push(data);
  const whole = client.query('{ a ... @defer { b } }', undefined, { onPart });
  await market.answer([{ data: { a: 1 } }, { data: { b: 2 } }]);
  expect([parts, (await whole).data]).toEqual([[{ a: 1 }], { a: 1, b: 2 }]);
  const refused = client.query('query Two { two }');
  const asked = client.query('query One { one }');
  await market.answer({ errors: [{ code: 'FORBIDDEN' }] }, 'Two');
  expect((await refused).errors).toMatchObject([{ code: 'FORBIDDEN' }]);
  await market.answer({ data: { one: 1 } });
  expect((await asked).data).toEqual({ one: 1 });
  const events: unknown[] = [];
  const next = ({ data }: { data: unknown }) => void events.push(data);
  client.subscribe('subscription { quotes }', () => ({}), { next, ended() {} });
  await market.answer([{ data: { quotes: 1 } }, { data: { quotes: 2 } }]);
  expect(events).toEqual([{ quotes: 1 }, { quotes: 2 }]);
  const later = client.query('{ news }');
  await market.answer({ data: { news: 'none' } });
  expect((await later).data).toEqual({ news: 'none' });
});

test('rows have only the client’s fields, and the fake works with fake timers', async () => {
  vi.useFakeTimers({ toFake: ['queueMicrotask', 'setTimeout', 'Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { market, state, client } = await followed({
    positions: [AAPL],
    client: { positionFields: ['symbol'] },
  });
  expect(state().positions).toEqual([{ id: '1', symbol: 'AAPL' }]);
  const { steps, outcome } = placed({ client });
  await market.accept();
  expect([steps, await outcome]).toMatchObject([['sending'], { status: 'accepted' }]);
});

test('a trusted document is answered by its id', async () => {
  const data = (query: string, variables: object) => (query === 'known' ? variables : undefined);
  const { client, market } = fakeClient({ data });
  const options = { repeats: true };
  const known = client.query({ documentId: 'known' }, { first: 2 }, options);
  expect((await known).data).toEqual({ first: 2 });
  const later = client.query({ documentId: 'other' }, undefined, options);
  await market.answer({ data: { session: null } });
  expect((await later).data).toEqual({ session: null });
});

test('a user of the sandbox stays signed in, and is signed in again when a token was refused', async () => {
  await using app = await startTestApp();
  const token = sandboxToken(app.url, 'pro@example.com');
  const first = await token({ force: false });
  expect(await token({ force: false })).toBe(first);
  const renewed = await token({ force: true });
  expect(renewed).not.toBe(first);
  const { data } = await app.query('{ session { login } }', { token: renewed ?? null });
  expect(data.session.login).toBe('700002');
  const nowhere = sandboxToken(`${app.url}/nowhere`);
  await expect(nowhere({ force: false })).rejects.toThrow('There is no sandbox at');
});
