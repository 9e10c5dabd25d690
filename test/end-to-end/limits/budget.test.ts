import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { orderElsewhere } from '../../support/order-elsewhere.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { codesOf } from './every-transport.ts';

const HOLDER = 'demo@example.com';
const HELD = 70;

const place = (key: string, reads: string) =>
  `placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "${key}" }) {
    __typename ... on OrderAccepted { orderId replayed ${reads} }
  }`;

describe('an answer that turns out larger than estimated', () => {
  // The estimate of fifty positions with four fields each, and a little more.
  const app = sharedApp({ MAX_COST: '240', POSITIONS_POLL_MS: '100' });
  /** More positions in one symbol than the cost estimate assumes. */
  beforeAll(async () => {
    for (let at = 0; at < HELD; at += 1) {
      expect(await orderElsewhere(app.sandbox, HOLDER)).not.toBeNull();
    }
  });

  const fresh = () => app.sandbox.token({ email: HOLDER });
  const LARGE = '{ positions { id symbol side units } }';

  test.each(['first', 'compiled'])('ends with an error and nothing else: the %s run', async () => {
    const { status, data, errors } = await app.query(LARGE, { token: fresh() });
    expect(status).toBe(200);
    expect(data).toBeNull();
    const message = 'The answer can have 241 fields; the limit is 240 (MAX_COST).';
    const limit = { limit: 'MAX_COST', value: 241, maximum: 240 };
    const extensions = { code: 'QUERY_TOO_COMPLEX', retryable: false, ...limit };
    expect(errors).toEqual([{ message, extensions }]);
  });

  test('keeps the outcomes and the errors of a mutation, and drops its reads', async () => {
    const token = fresh();
    const reads = 'positions { id symbol side units }';
    const { data, errors } = await app.query(
      `mutation {
        a: ${place('budget-a', reads)}
        b: ${place('budget-b', 'message')}
        c: ${place('', 'message')}
      }`,
      { token },
    );
    expect(data.a).toMatchObject({ __typename: 'OrderAccepted', replayed: false, positions: null });
    expect(data.a.orderId).toEqual(expect.any(String));
    expect(data.b).toMatchObject({ __typename: 'OrderAccepted', orderId: expect.any(String) });
    expect(data.c).toBeNull();
    expect(errors).toMatchObject([
      { path: ['c'], extensions: { code: 'BAD_USER_INPUT' } },
      { path: ['a', 'positions'], extensions: { code: 'QUERY_TOO_COMPLEX' } },
    ]);
  });

  test.each([
    ['over WebSocket', webSocketClient],
    ['as an event stream', sseClient],
  ] as const)('ends a subscription %s', async (_how, clientFor) => {
    const token = fresh();
    await using client = clientFor(app, token);
    const watcher = client.watch({}, 'subscription { positions { id symbol side units } }');
    await eventually(() => watcher.ended !== null);
    expect(watcher.ended).toBe('complete');
    expect(codesOf(watcher)).toEqual(['QUERY_TOO_COMPLEX']);
    expect(watcher.lists).toEqual([]);
  });

  test('is refused before any call once the account is known to have so many', async () => {
    const token = fresh();
    await app.query('{ session { login } positions { id } }', { token });
    app.sandbox.clearCalls();
    const { status, errors } = await app.query(LARGE, { token });
    expect(status).toBe(200);
    expect(errors[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', maximum: 240 });
    // The estimate of the answer: it was never begun.
    expect(errors[0]?.extensions.value).toBeGreaterThan(241);
    expect(app.sandbox.calls('getOpenPositions')).toBe(0);
  });

  test('does not reveal how many positions another account has', async () => {
    const victim = { login: 700001, group: 'standard-usd', exp: inSeconds(600) };
    const answer = await app.query(LARGE, { token: unsignedToken(victim) });
    expect(codesOf(answer)).toEqual(['UNAUTHENTICATED']);
  });
});

describe('in a minute', () => {
  test('the fields resolved for an account are limited, whatever the number of requests', async () => {
    await using app = await startTestApp({ COST_LIMIT_PER_MINUTE: '3000' });
    const token = await app.signIn();
    const other = await app.signIn('pro@example.com');
    for (const each of [token, other]) await app.query('{ session { login } }', { token: each });
    const text = '{ customerId instruments(first: 500) { nodes { id name } } }';
    expect((await app.query(text, { token })).errors).toEqual([]);
    expect((await app.query(text, { token })).errors).toEqual([]);
    const { status, headers, errors } = await app.query('{ __typename }', { token });
    expect(status).toBe(429);
    expect(errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await app.query(text, { token: other })).errors).toEqual([]);
  });

  test('answers from memory count as well, and unchanged ones nothing', async () => {
    const limits = { COST_LIMIT_PER_MINUTE: '10000' };
    await using app = await startTestApp(limits, { refills: false });
    const token = await app.signIn();
    await app.query('{ session { login } }', { token });
    const text = '{ instruments(first: 500) { nodes { id } } }';
    const url = `${app.url}/graphql?query=${encodeURIComponent(text)}`;
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const etag = (await fetch(url, { headers })).headers.get('etag') ?? '';
    for (let at = 0; at < 50; at += 1) {
      const { status } = await fetch(url, { headers: { ...headers, 'if-none-match': etag } });
      expect(status).toBe(304);
    }
    const statuses: number[] = [];
    for (let at = 0; at < 12; at += 1) statuses.push((await fetch(url, { headers })).status);
    expect(statuses.slice(0, 8).every((status) => status === 200)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
  });

  test('events beyond their account’s share are merged and delayed, and say so', async () => {
    const query =
      'subscription { positionChanges { cursor upserted { id symbol side units profit name } } }';
    await using app = await startTestApp({ MAX_COST: '640', POSITIONS_POLL_MS: '100' });
    const token = app.sandbox.token({ email: 'pro@example.com' });
    using raw = await initializedSocket(app, token);
    for (let at = 0; at < 6; at += 1) raw.subscribe(`${at}`, query);
    // Each event has some 150 fields of 1,600 a minute: the eleventh has to wait.
    await eventually(() => {
      app.sandbox.tick();
      return raw.messages.some(({ payload }) => payload?.extensions?.waitedMs > 0);
    });
    const bystander = await app.signIn();
    expect((await app.query('{ session { login } }', { token: bystander })).errors).toEqual([]);
  });
});
