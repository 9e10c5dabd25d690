import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';

const screen = useSignedInApp();

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

  test('is cached for its TTL, and read anew after it', async () => {
    await using own = await startTestApp({ SESSION_MAX_AGE_SECONDS: '1' });
    const demo = own.sandbox.token({ email: 'demo@example.com' });
    const fetchedAt = async () => {
      const { data } = await own.query('{ session { fetchedAt } }', { token: demo });
      return data.session.fetchedAt;
    };
    const first = await fetchedAt();
    expect(await fetchedAt()).toBe(first);
    await eventually(async () => expect(await fetchedAt()).not.toBe(first));
    const heldMs = Date.parse(await fetchedAt()) - Date.parse(first);
    expect(heldMs).toBeGreaterThanOrEqual(990);
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

  test('of age 0 is a fresh one', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ session(maxAge: 0) { login } }');
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

  test('of an age may be as old as that', async () => {
    await screen.read('{ session { login } }');
    await screen.read('{ session(maxAge: 30) { login } }');
    expect(screen.calls('getSession')).toBe(1);
  });

  test('requested at several ages is one call, and the strictest applies', async () => {
    await screen.read('{ session { login } }');
    const data = await screen.read(`{
      orders { id }
      loose: session(maxAge: 50) { fetchedAt }
      strict: session(maxAge: 0) { fetchedAt }
      session { fetchedAt }
    }`);
    expect(screen.calls('getSession')).toBe(2);
    expect(data.loose).toEqual(data.strict);
    expect(data.session).toEqual(data.strict);
  });

  test('requested at the strictest age first is as fresh as that', async () => {
    await screen.read('{ session { login } }');
    await screen.read(
      '{ strict: session(maxAge: 0) { login } loose: session(maxAge: 50) { login } }',
    );
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

  test('that names another login is refused', async () => {
    const body = { login: 700002, balance: 1, group: 'pro-usd' };
    answerSessionOnce(body);
    const { data, errors } = await screen.app.query('{ session { balance } }', {
      token: screen.token,
    });
    expect(data).toEqual({ session: null });
    expect(errors[0]?.extensions.code).toBe('GATEWAY_CONTRACT');
  });

  test('may lack any field, and what is of another type is null', async () => {
    const body = { balance: '5', equity: null, Invested: 1, access: [], orders: null, extra: {} };
    answerSessionOnce(body);
    const data = await screen.read(
      '{ session { login balance equity invested profits access { id } orders { id } positions { id } } orders { id } }',
    );
    expect(data).toEqual({
      session: {
        login: '700001',
        balance: null,
        equity: null,
        invested: 1,
        profits: null,
        access: null,
        orders: null,
        positions: null,
      },
      orders: null,
    });
  });

  test.each([
    { positions: [{ id: '1', symbol: 'AAPL' }, { id: '2' }] },
    { orders: [{ symbol: 'AAPL' }] },
    { orders: [{ id: 5, symbol: 'AAPL' }] },
    { orders: {} },
    { positions: [null] },
  ])('with a row without a distinct id is outside the interface: %j', async (body) => {
    answerSessionOnce(body);
    const { errors } = await screen.app.query('{ session { login } }', { token: screen.token });
    expect(errors[0]?.extensions.code).toBe('GATEWAY_CONTRACT');
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

  test('is stale when it is received, where other positions were seen while it was in flight', async () => {
    screen.app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 400 });
    const slow = screen.read('{ session { login } }');
    await eventually(() => screen.calls('getSession') === 1);
    answerPositions([{ id: '1', symbol: 'AAPL' }]);
    await screen.read('{ positions { id } }');
    await slow;
    screen.app.sandbox.clearFaults();
    await screen.read('{ session { login } }');
    expect(screen.calls('getSession')).toBe(2);
  });
});

function answerSessionOnce(body: object) {
  screen.app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 200, body, times: 1 });
}

function answerPositions(positions: readonly object[]) {
  screen.app.sandbox.fail({
    operation: 'getOpenPositions',
    kind: 'status',
    status: 200,
    body: { positions },
  });
}
