import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { webSocketClient } from '../live/watcher.ts';

const screen = useSignedInApp();

describe('the newest list of positions', () => {
  test('is the one served, in the snapshot too', async () => {
    await screen.read('{ session { positions { id } } }');
    answerPositions([{ id: '1', symbol: 'AAPL' }]);
    await screen.read('{ positions { id } }');
    // The snapshot is requested first and answered last, so its own list is the older one by then.
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const slow = screen.read('{ session(maxAge: 0) { positions { id } } }');
    await eventually(() => screen.calls('getSession') === 2);
    await screen.read('{ positions { id } }');
    expect(await slow).toEqual({ session: { positions: [{ id: '1' }] } });
  });

  test('is not replaced by an older one that is received later', async () => {
    answerPositions([{ id: 'old', symbol: 'AAPL' }], { delayMs: 400, times: 1 });
    const slow = screen.read('{ positions { id } }');
    await eventually(() => screen.calls('getOpenPositions') === 1);
    answerPositions([{ id: 'new', symbol: 'AAPL' }]);
    expect(await screen.read('{ positions { id } }')).toEqual({ positions: [{ id: 'new' }] });
    expect(await slow).toEqual({ positions: [{ id: 'new' }] });
  });

  test('is read anew after a write, though a feed has one that counts as fresh', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '20000' });
    const token = await app.signIn();
    const client = webSocketClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.events.length > 0);
    app.sandbox.clearCalls();
    const read = await app.query('{ positions { id } }', { token });
    expect(app.sandbox.calls('getOpenPositions')).toBe(0);
    const { data, extensions } = await app.query(
      `mutation { placeOrder(input: {
        symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "after a write"
      }) { ... on OrderAccepted { positions { id } } } }`,
      { token },
    );
    expect(data.placeOrder.positions).toHaveLength(read.data.positions.length + 1);
    expect(extensions.gateway).toContainEqual(
      expect.objectContaining({ operation: 'getOpenPositions', source: 'call' }),
    );
    await client.dispose();
  });

  test('is shared by the account’s tokens once they are proved', async () => {
    await screen.read('{ session { login } }');
    const other = screen.app.sandbox.token({ email: 'demo@example.com' });
    await screen.app.query('{ session { login } }', { token: other });
    answerPositions([{ id: 'old', symbol: 'AAPL' }], { delayMs: 400, times: 1 });
    const slow = screen.read('{ positions { id } }');
    await eventually(() => screen.calls('getOpenPositions') === 1);
    answerPositions([{ id: 'new', symbol: 'AAPL' }]);
    await screen.app.query('{ positions { id } }', { token: other });
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

  test('is one call for all concurrent requests (single flight)', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 50 });
    await Promise.all(
      Array.from({ length: 20 }, () => screen.read('{ session { login } orders { id } }')),
    );
    expect(screen.calls('getSession')).toBe(1);
  });

  test('is not cached at all with a TTL of 0', async () => {
    await using own = await startTestApp({ SESSION_MAX_AGE_SECONDS: '0' });
    const demo = own.sandbox.token({ email: 'demo@example.com' });
    for (let i = 0; i < 3; i += 1) await own.query('{ session { login } }', { token: demo });
    expect(own.sandbox.calls('getSession')).toBe(3);
  });

  test('of one token is not another’s, though both are one account’s', async () => {
    await screen.read('{ session { login } }');
    const other = screen.app.sandbox.token({ email: 'demo@example.com' });
    const { errors } = await screen.app.query('{ session { login } }', { token: other });
    expect(errors).toEqual([]);
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
    const { data, errors } = await screen.app.query(
      '{ session(maxAge: -1) { login } orders { id } customerId }',
      { token: screen.token },
    );
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      path: ['session'],
      extensions: { code: 'BAD_USER_INPUT', retryable: false, argument: 'maxAge' },
    });
    expect(data).toMatchObject({ session: null, customerId: 'cus_700001' });
    expect(data.orders).toHaveLength(3);
  });

  test('that failed is not cached', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'garbage', times: 1 });
    const { data } = await screen.app.query('{ session { login } }', { token: screen.token });
    expect(data).toEqual({ session: null });
    expect(await screen.read('{ session { login } }')).toEqual({ session: { login: '700001' } });
  });

  test('is stale once the account’s positions are seen to differ', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ positions { id } }');
    await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(1);
    answerPositions([{ id: '1', symbol: 'AAPL' }]);
    await screen.read('{ positions { id } }');
    screen.app.sandbox.clearFaults();
    await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(2);
  });
});

function answerPositions(
  positions: readonly object[],
  more: { delayMs?: number; times?: number } = {},
) {
  screen.app.sandbox.fail({
    operation: 'getOpenPositions',
    kind: 'status',
    status: 200,
    body: { positions },
    ...more,
  });
}
