import { describe, expect, test } from 'vitest';
import type { TeamPlugin } from '../../../src/engine/index.ts';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { unsignedToken, withClaims } from '../../support/tokens.ts';
import { codesOf } from '../limits/every-transport.ts';
import { outcomesOf } from '../operations/request-lines.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { initializedSocket, openSocket, type RawSocket } from './raw-socket.ts';
import {
  BOTH_CHANGES,
  CHANGES,
  LIST,
  sseClient,
  type Watcher,
  webSocketClient,
} from './watcher.ts';

const DEMO = { email: 'demo@example.com' };
const SHORT_SECONDS = 6;

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const opened = closeAfterEachTest();
/** Whether a watcher has received the account's six positions. */
const hasList = ({ list }: Watcher) => list.length === 6;
const UNAUTHENTICATED = { code: 4403, reason: 'UNAUTHENTICATED' };

test.each(BOTH_CHANGES)(
  '%s: when a token expires, its socket closes with 4403 and its event stream ends with an error',
  async (_view, changes) => {
    const device = opened(webSocketClient(app, app.sandbox.token(DEMO))).watch({}, changes);
    await eventually(() => hasList(device));
    const short = app.sandbox.token({ ...DEMO, expiresInSeconds: SHORT_SECONDS });
    using raw = await initializedSocket(app, short);
    raw.subscribe('a', changes);
    raw.subscribe('b', LIST);
    const stream = opened(sseClient(app, short)).watch({}, changes);
    await eventually(() => hasList(stream));
    expect(await raw.untilClosed()).toEqual(UNAUTHENTICATED);
    const types = new Set(raw.messages.map(({ type }) => type));
    expect(types).toEqual(new Set(['connection_ack', 'next']));
    for (const { payload } of raw.messages) expect(payload?.errors).toBeUndefined();
    await eventually(() => stream.ended !== null);
    expect(stream.ended).toBe('complete');
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
    // The other device's subscription continues with its own token.
    const before = device.events.length;
    app.sandbox.tick();
    await eventually(() => expect(device.events.length).toBeGreaterThan(before), device.whileOpen);
    expect(device.last?.status).toBe('LIVE');
    expect(device.ended).toBeNull();
  },
);

test('with onTokenEnd "error" the last event of each operation is the error when the token ends, and the socket stays open', async () => {
  const refused = { errors: [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }] };
  /** The payloads of an operation, once it is complete. */
  const payloadsOf = async (raw: RawSocket, id: string) => {
    await raw.until(id, 'complete');
    const messages = raw.messagesOf(id).slice(0, -1);
    expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(['next']));
    return messages.map(({ payload }) => payload);
  };
  const init = (raw: RawSocket, token: string) => {
    const payload = { authorization: `Bearer ${token}`, onTokenEnd: 'error' };
    raw.send({ type: 'connection_init', payload });
  };
  using expiring = await openSocket(app);
  init(expiring, app.sandbox.token({ ...DEMO, expiresInSeconds: SHORT_SECONDS }));
  expiring.subscribe('a', LIST);
  const token = app.sandbox.token(DEMO);
  using raw = await openSocket(app);
  init(raw, token);
  for (const id of ['a', 'b']) await raw.watch(id, LIST);
  app.sandbox.revoke({ token });
  for (const id of ['a', 'b']) {
    const payloads = await payloadsOf(raw, id);
    expect(payloads.at(-1)).toMatchObject(refused);
    expect(payloads.slice(0, -1).every(({ errors }) => errors === undefined)).toBe(true);
  }
  // An operation that begins after the token's end gets only an error.
  raw.subscribe('c', LIST);
  expect(await payloadsOf(raw, 'c')).toMatchObject([refused]);
  raw.subscribe('d', '{ __typename }');
  await raw.until('d', 'complete');
  expect((await payloadsOf(expiring, 'a')).at(-1)).toMatchObject(refused);
  expect([raw.closed, expiring.closed]).toEqual([null, null]);
});

test('a revoked token ends its subscriptions with UNAUTHENTICATED, and a forbidden token with FORBIDDEN', async () => {
  const tokens = [1, 2, 3].map(() => app.sandbox.token(DEMO));
  const watchers = tokens.flatMap((token) => [
    opened(webSocketClient(app, token)).watch(),
    opened(sseClient(app, token)).watch(),
  ]);
  // The list begins with the socket and the stream of the first token, and the other two tokens follow.
  const [socket, stream, other, ...others] = watchers as [Watcher, Watcher, Watcher];
  await eventually(() => watchers.every(hasList));
  app.sandbox.revoke({ token: tokens[0] as string });
  await eventually(() => socket.ended !== null && stream.ended !== null);
  expect(socket.ended).toMatchObject(UNAUTHENTICATED);
  expect(socket.errors).toEqual([]);
  expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
  // The subscriptions of the other tokens continue.
  for (let change = 0; change < 3; change += 1) {
    const before = other.events.length;
    app.sandbox.tick();
    await eventually(() => expect(other.events.length).toBeGreaterThan(before), other.whileOpen);
  }
  await eventually(() => {
    for (const { list } of others as Watcher[]) expect(list).toEqual(other.list);
  });
  for (const { events, ended } of watchers.slice(2)) {
    expect(ended).toBeNull();
    expect(events.every(({ status }) => status === 'LIVE')).toBe(true);
  }
  const body = { error: 'RESTRICTED', message: 'The account is restricted.' };
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 403, body });
  await eventually(() => watchers.every(({ ended }) => ended !== null));
  expect(other.ended).toMatchObject({ code: 4403, reason: 'FORBIDDEN' });
  expect(watchers[3]?.errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN', gatewayError: { error: 'RESTRICTED' } } },
  ]);
});

test('a subscription with an invalid token closes its socket, and a query with such a token does not', async () => {
  const revoked = app.sandbox.token(DEMO);
  app.sandbox.revoke({ token: revoked });
  const expired = app.sandbox.token({ ...DEMO, expiresInSeconds: -3_600 });
  for (const token of [expired, 'garbage', revoked]) {
    using raw = await initializedSocket(app, token);
    raw.subscribe('a', CHANGES);
    expect(await raw.untilClosed()).toEqual(UNAUTHENTICATED);
    expect(raw.messages.map(({ type }) => type)).toEqual(['connection_ack']);
    const stream = opened(sseClient(app, token)).watch();
    await eventually(() => stream.ended !== null);
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
  }
  // The service has closed the sockets: their clients are not logged as gone.
  expect(outcomesOf(app, 'UNAUTHENTICATED')).toEqual(['caller']);
  app.sandbox.clearCalls();
  using raw = await initializedSocket(app, expired);
  const { payload } = await raw.watch('a', '{ positions { id } }');
  expect(codesOf(payload)).toEqual(['UNAUTHENTICATED']);
  const next = await raw.watch('b', '{ __typename }');
  expect(next.payload.data).toEqual({ __typename: 'Query' });
  expect(app.sandbox.callCounts().total).toBe(0);
});

test('after a subscription without a token has ended with an error, its socket can be used to sign in', async () => {
  using raw = await initializedSocket(app);
  const { payload } = await raw.watch('a');
  expect(codesOf(payload)).toEqual(['UNAUTHENTICATED']);
  await raw.until('a', 'complete');
  const signIn = await raw.watch(
    'b',
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }',
  );
  expect(signIn.payload.data.login.accessToken).toMatch(/^eyJ/);
});

test.each(BOTH_CHANGES)(
  '%s: a forged token with a victim’s login reveals nothing, not even whether the victim’s feed runs',
  async (_view, changes) => {
    // Each `exp` makes new tokens, which no cache knows.
    const forgeries = (exp: number) => [
      withClaims(app.sandbox.token({ ...DEMO, signature: 'forged' }), { exp }),
      withClaims(app.sandbox.token({ email: 'fresh@example.com' }), { login: 700_001, exp }),
      unsignedToken({ login: 700_001, group: 'standard-usd', exp }),
    ];
    const attempt = async (token: string, after: string | null) => {
      app.sandbox.clearCalls();
      using raw = await initializedSocket(app, token);
      raw.subscribe('a', changes, { after });
      const closed = await raw.untilClosed();
      const query = '{ positions { id } session { positions { id } } }';
      const answer = await app.query(query, { token });
      // Counts only the attacker's calls: the victim's feed makes calls of op 10 too.
      const sessions = app.sandbox
        .requests('getSession')
        .filter(({ headers }) => headers.authorization === `Bearer ${token}`).length;
      const { messages } = raw;
      return { closed, messages, data: answer.data, codes: codesOf(answer), sessions };
    };
    const withoutFeed = [];
    for (const token of forgeries(4_000_000_000)) withoutFeed.push(await attempt(token, null));
    const victim = opened(webSocketClient(app, app.sandbox.token(DEMO))).watch({}, changes);
    await eventually(() => hasList(victim));
    for (const [index, token] of forgeries(4_000_000_001).entries()) {
      const stolenCursor = victim.last?.cursor ?? null;
      const withFeed = await attempt(token, stolenCursor);
      expect(withFeed).toEqual(withoutFeed[index]);
      const data = { positions: null, session: null };
      expect(withFeed).toMatchObject({ closed: UNAUTHENTICATED, data });
    }
    // The victim's feed is not affected.
    const before = victim.events.length;
    app.sandbox.tick();
    await eventually(() => expect(victim.events.length).toBeGreaterThan(before), victim.whileOpen);
    expect(victim.events.every(({ status }) => status === 'LIVE')).toBe(true);
    expect(victim.ended).toBeNull();
  },
);

describe('a result that is held back while its token is refused', () => {
  /** The results that wait in a plugin. */
  let held: PromiseWithResolvers<void> | null = null;
  let holding = 0;
  const plugin: TeamPlugin = {
    onSubscribe: () => ({
      onSubscribeResult: () => ({
        async onNext() {
          holding += 1;
          await held?.promise;
        },
      }),
    }),
  };
  const own = ownApp({ POSITIONS_POLL_MS: '100' }, { plugins: [plugin] });

  test.each(['close', 'error'])(
    'is not sent, with onTokenEnd %s and as an event stream',
    async (onTokenEnd) => {
      held = null;
      const [token, innocentToken] = [own.sandbox.token(DEMO), own.sandbox.token(DEMO)];
      const innocent = opened(webSocketClient(own, innocentToken)).watch({}, CHANGES);
      const stream = opened(sseClient(own, token)).watch({}, CHANGES);
      using raw = await openSocket(own);
      const payload = { authorization: `Bearer ${token}`, onTokenEnd };
      raw.send({ type: 'connection_init', payload });
      await raw.watch('1', LIST);
      await eventually(() => hasList(stream) && hasList(innocent));
      held = Promise.withResolvers();
      holding = 0;
      own.sandbox.tick();
      await eventually(() => expect(holding).toBe(3));
      const [ofSocket, ofStream] = [raw.messagesOf('1').length, stream.events.length];
      own.sandbox.revoke({ token });
      // Another call of the token is refused, which ends its subscriptions.
      await own.query('{ customerId }', { token });
      held.resolve();
      await eventually(() => expect(stream.ended).toBe('complete'));
      expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
      expect(stream.events).toHaveLength(ofStream);
      if (onTokenEnd === 'close') expect(await raw.untilClosed()).toEqual(UNAUTHENTICATED);
      else await raw.until('1', 'complete');
      const later = raw.messagesOf('1').slice(ofSocket);
      expect(later.filter(({ payload }) => payload?.data != null)).toEqual([]);
      // The other token of the account gets the result that was held back, and further ones.
      const before = innocent.events.length;
      own.sandbox.tick();
      await eventually(() => expect(innocent.events.length).toBeGreaterThan(before));
    },
  );
});
