import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { webSocketClient } from '../live/watcher.ts';

const screen = useSignedInApp();

const listOf = (id: string) => ({ positions: [{ id, symbol: 'AAPL' }] });
const positionsAre = (id: string, more = {}) => screen.fake('getOpenPositions', listOf(id), more);

describe('the newest list of positions', () => {
  test('is the one served, in the snapshot too', async () => {
    await screen.read('{ session { positions { id } } }');
    positionsAre('1');
    await screen.read('{ positions { id } }');
    // The snapshot is requested first and answered last, so its own list is the older one by then.
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const slow = screen.read('{ session(maxAge: 0) { positions { id } } }');
    await eventually(() => screen.calls('getSession') === 2);
    await screen.read('{ positions { id } }');
    expect(await slow).toEqual({ session: { positions: [{ id: '1' }] } });
  });

  test('is read anew after a write, though a feed has one that counts as fresh', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '20000' });
    const token = await app.signIn();
    await using client = webSocketClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.events.length > 0);
    app.sandbox.clearCalls();
    const read = await app.query('{ positions { id } }', { token });
    expect(app.sandbox.calls('getOpenPositions')).toBe(0);
    const order = buying('after a write', '... on OrderAccepted { positions { id } }');
    const { data, extensions } = await app.query(order, { token });
    expect(data.placeOrder.positions).toHaveLength(read.data.positions.length + 1);
    expect(extensions.gateway).toContainEqual(
      expect.objectContaining({ operation: 'getOpenPositions', source: 'call' }),
    );
  });

  test('is shared by the account’s tokens once they are proved', async () => {
    await screen.read('{ session { login } }');
    const other = screen.otherToken();
    await screen.read('{ session { login } }', other);
    positionsAre('old', { delayMs: 400, times: 1 });
    const slow = screen.read('{ positions { id } }');
    await eventually(() => screen.calls('getOpenPositions') === 1);
    positionsAre('new');
    await screen.read('{ positions { id } }', other);
    expect(await slow).toEqual({ positions: [{ id: 'new' }] });
  });
});

describe('the session', () => {
  test('that names a group which no path can hold is blamed for it, not the token', async () => {
    const body = { login: 700001, group: 'a/../b', positions: [], orders: [] };
    await using own = await startTestApp();
    own.sandbox.fail({ operation: 'getSession', kind: 'status', status: 200, body });
    const token = own.sandbox.token({ email: 'demo@example.com' });
    await own.query('{ session { group } }', { token });
    const { data, errors } = await own.query('{ catalog { size } session { group } }', { token });
    expect(data).toEqual({ catalog: null, session: { group: 'a/../b' } });
    expect(errors).toMatchObject([
      {
        message: 'The session names a group that cannot be one segment of a path.',
        extensions: { code: 'GATEWAY_CONTRACT', retryable: false, operation: 'getSession' },
      },
    ]);
    expect(own.sandbox.calls('getAllTickers')).toBe(0);
  });

  test('is not cached at all with a TTL of 0', async () => {
    await using own = await startTestApp({ SESSION_MAX_AGE_SECONDS: '0' });
    const demo = own.sandbox.token({ email: 'demo@example.com' });
    for (let i = 0; i < 3; i += 1) await own.query('{ session { login } }', { token: demo });
    expect(own.sandbox.calls('getSession')).toBe(3);
  });

  test('of one token is not another’s, though both are one account’s', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ session { login } }', screen.otherToken());
    expect(screen.calls('getSession')).toBe(2);
  });

  test('of age 0 is not joined to a call that began before', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const before = screen.read('{ session { login } }');
    await eventually(() => screen.calls('getSession') === 1);
    await screen.read('{ session(maxAge: 0) { login } }');
    await before;
    expect(screen.calls('getSession')).toBe(2);
  });

  test('of a negative age is BAD_USER_INPUT, and what stands beside it is not', async () => {
    const { data, errors } = await screen.ask(
      '{ session(maxAge: -1) { login } orders { id } customerId }',
    );
    const extensions = { code: 'BAD_USER_INPUT', retryable: false, argument: 'maxAge' };
    expect(errors).toMatchObject([{ path: ['session'], extensions }]);
    expect(data).toMatchObject({ session: null, customerId: 'cus_700001' });
    expect(data.orders).toHaveLength(3);
  });

  test('that failed is not cached', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'garbage', times: 1 });
    expect((await screen.ask('{ session { login } }')).data).toEqual({ session: null });
    expect(await screen.read('{ session { login } }')).toEqual({ session: { login: '700001' } });
  });

  test('without a list of positions is cached like any other', async () => {
    screen.fake('getSession', { login: 700001, orders: [] });
    for (let time = 0; time < 2; time += 1) await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(1);
  });

  test('is stale once the account’s positions are seen to differ', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ positions { id } }');
    await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(1);
    positionsAre('1');
    await screen.read('{ positions { id } }');
    screen.app.sandbox.clearFaults();
    await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(2);
  });
});

const DEMO = { email: 'demo@example.com' };
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

test('the positions of a cached snapshot are read once, and served from memory afterwards', async () => {
  const positions = '{ session { positions { id symbol profit } } }';
  await screen.read('{ session { balance } }');
  const first = await screen.read(positions);
  expect(first.session.positions).toHaveLength(6);
  expect(screen.calls('getSession')).toBe(2);
  expect(await screen.read(positions)).toEqual(first);
  expect(screen.calls('getSession')).toBe(2);
  expect(screen.calls('getOpenPositions')).toBe(0);
});

test.each([
  '{ session { positions { id } } again: session { fetchedAt positions { id } } orders { id } }',
  'query Q { orders { id } ...f } fragment f on Query { session { ... on Session { positions { id } } } }',
  'query Q($no: Boolean = false) { orders { id } session { positions @skip(if: $no) { id } } }',
])('orders are of the snapshot whose positions are read: %s', async (document) => {
  await using app = await startTestApp();
  const token = app.sandbox.token(DEMO);
  const before = await app.query('{ session { balance } orders { id symbol priceOpen } }', {
    token,
  });
  const [order] = before.data.orders;
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  const { data, errors } = await app.query(document, { token });
  expect(errors).toEqual([]);
  expect(ids(data.session.positions)).toContain(order.id);
  expect(ids(data.orders)).not.toContain(order.id);
  expect(app.sandbox.calls('getSession')).toBe(2);
});

test('where no list can be kept, an answer from before a newer one is still not served', async () => {
  await using app = await startTestApp({}, { cacheBytes: { positions: 1, sessions: 1 } });
  const [slow, quick] = [app.sandbox.token(DEMO), app.sandbox.token(DEMO)];
  const others = app.sandbox.token({ email: 'pro@example.com' });
  const read = async (token: string, document: string) => {
    const { data, errors } = await app.query(document, { token });
    expect(errors).toEqual([]);
    return data;
  };
  for (const token of [slow, quick, others]) await read(token, '{ session { login } }');
  app.sandbox.clearCalls();
  const answer = { operation: 'getOpenPositions', kind: 'status', status: 200, times: 1 } as const;
  app.sandbox.fail({ ...answer, body: listOf('old'), delayMs: 400 });
  app.sandbox.fail({ ...answer, body: listOf('new') });
  app.sandbox.fail({ ...answer, body: listOf('newest') });
  const early = read(slow, '{ positions { id } }');
  await eventually(() => app.sandbox.calls('getOpenPositions') === 1);
  expect(await read(quick, '{ positions { id } }')).toEqual({ positions: [{ id: 'new' }] });
  expect(await early).toEqual({ positions: [{ id: 'newest' }] });
  // A snapshot that is asked for later is newer than either, and is nobody else's.
  const { session } = await read(quick, '{ session { positions { id } } }');
  expect(ids(session.positions)).toHaveLength(6);
  const { session: own } = await read(others, '{ session { positions { id } } }');
  expect(own.positions).toHaveLength(25);
});

test('an order shows in the positions of a snapshot that was cached before it', async () => {
  await using app = await startTestApp({}, { cacheBytes: { positions: 1 } });
  const token = app.sandbox.token(DEMO);
  const { data: before } = await app.query('{ session { positions { id } } }', { token });
  const placed = await app.query(buying('shown', '... on OrderAccepted { orderId }'), { token });
  const { orderId } = placed.data.placeOrder;
  expect(ids(before.session.positions)).not.toContain(orderId);
  const { data } = await app.query('{ session { positions { id } } }', { token });
  expect(ids(data.session.positions)).toContain(orderId);
});
