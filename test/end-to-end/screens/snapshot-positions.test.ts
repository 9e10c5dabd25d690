import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

const POSITIONS = '{ session { positions { id symbol profit } } }';
const DEMO = { email: 'demo@example.com' };

interface Row {
  readonly id: string;
}
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id);

test('the positions of a cached snapshot are read once, and served from memory afterwards', async () => {
  await using app = await startTestApp();
  const token = app.sandbox.token(DEMO);
  await app.query('{ session { balance } }', { token });
  const first = await app.query(POSITIONS, { token });
  expect(first.errors).toEqual([]);
  expect(first.data.session.positions).toHaveLength(6);
  expect(app.sandbox.calls('getSession')).toBe(2);
  expect((await app.query(POSITIONS, { token })).data).toEqual(first.data);
  expect(app.sandbox.calls('getSession')).toBe(2);
  expect(app.sandbox.calls('getOpenPositions')).toBe(0);
});

test.each([
  '{ session { positions { id } } again: session { fetchedAt positions { id } } orders { id } }',
  'query Q { orders { id } ...f } fragment f on Query { session { ... on Session { positions { id } } } }',
  'query Q($no: Boolean = false) { orders { id } session { positions @skip(if: $no) { id } } }',
])('orders are of the snapshot whose positions are read: %s', async (document) => {
  await using app = await startTestApp();
  const token = app.sandbox.token(DEMO);
  const { data: before } = await app.query(
    '{ session { balance } orders { id symbol priceOpen } }',
    {
      token,
    },
  );
  const [order] = before.orders;
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  const { data, errors } = await app.query(document, { token });
  expect(errors).toEqual([]);
  expect(ids(data.session.positions)).toContain(order.id);
  expect(ids(data.orders)).not.toContain(order.id);
  expect(app.sandbox.calls('getSession')).toBe(2);
});

test('another token of the account that may not see them gets none of them', async () => {
  await using app = await startTestApp();
  const token = app.sandbox.token(DEMO);
  for (let at = 0; at < 2; at += 1) await app.query(POSITIONS, { token });
  const revoked = app.sandbox.token(DEMO);
  await app.query('{ session { balance } }', { token: revoked });
  app.sandbox.revoke({ token: revoked });
  const { data, errors } = await app.query('{ session(maxAge: 0) { positions { id } } }', {
    token: revoked,
  });
  expect(data.session).toBeNull();
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
  // What was cached for it is gone with its proof.
  const again = await app.query(POSITIONS, { token: revoked });
  expect(again.data.session).toBeNull();
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
  const list = (id: string) => ({ positions: [{ id, symbol: 'AAPL' }] });
  const answer = { operation: 'getOpenPositions', kind: 'status', status: 200, times: 1 } as const;
  app.sandbox.fail({ ...answer, body: list('old'), delayMs: 400 });
  app.sandbox.fail({ ...answer, body: list('new') });
  app.sandbox.fail({ ...answer, body: list('newest') });
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
  const placed = await app.query(
    `mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "${crypto.randomUUID()}" }) {
      ... on OrderAccepted { orderId } } }`,
    { token },
  );
  expect(placed.errors).toEqual([]);
  const { orderId } = placed.data.placeOrder;
  expect(ids(before.session.positions)).not.toContain(orderId);
  const { data } = await app.query('{ session { positions { id } } }', { token });
  expect(ids(data.session.positions)).toContain(orderId);
});
