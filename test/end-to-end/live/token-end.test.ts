import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { unsignedToken, withClaims } from '../../support/tokens.ts';
import { codesOf } from '../limits/every-transport.ts';
import { closedClients } from './closed-clients.ts';
import { initializedSocket, openSocket } from './raw-socket.ts';
import { CHANGES, LIST, sseClient, VIEWS, type Watcher, webSocketClient } from './watcher.ts';

const DEMO = { email: 'demo@example.com' };
const SHORT_SECONDS = 6;

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const opened = closedClients();
const hasList = ({ list }: Watcher) => list.length === 6;
const UNAUTHENTICATED = { code: 4403, reason: 'UNAUTHENTICATED' };

describe.each(VIEWS)('%s: a token that expires', (_view, changes) => {
  test('closes its socket with 4403 and no other message, and ends its event stream with an error', async () => {
    const other = opened(webSocketClient(app, app.sandbox.token(DEMO))).watch({}, changes);
    await eventually(() => hasList(other));
    const short = app.sandbox.token({ ...DEMO, expiresInSeconds: SHORT_SECONDS });
    using raw = await initializedSocket(app, short);
    raw.subscribe('a', changes);
    raw.subscribe('b', LIST);
    const stream = opened(sseClient(app, short)).watch({}, changes);
    await eventually(() => hasList(stream));
    expect(await raw.close()).toEqual(UNAUTHENTICATED);
    const types = new Set(raw.messages.map(({ type }) => type));
    expect(types).toEqual(new Set(['connection_ack', 'next']));
    for (const { payload } of raw.messages) expect(payload?.errors).toBeUndefined();
    await eventually(() => stream.ended !== null);
    expect(stream.ended).toBe('complete');
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
    // The other device's feed continues with its own token.
    const before = other.events.length;
    app.sandbox.tick();
    await eventually(() => other.events.length > before);
    expect(other.last?.status).toBe('LIVE');
    expect(other.ended).toBeNull();
  });
});

describe('a client that asks for an error in place of a closed socket', () => {
  const init = (token: string) => ({
    type: 'connection_init',
    payload: { authorization: `Bearer ${token}`, onTokenEnd: 'error' },
  });
  const REFUSED = [{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }];

  test('gets one for each of its operations when its token is refused, and its socket stays open', async () => {
    const token = app.sandbox.token(DEMO);
    using raw = await openSocket(app);
    raw.say(init(token));
    for (const id of ['a', 'b']) await raw.watch(id, LIST);
    app.sandbox.revoke({ token });
    for (const id of ['a', 'b']) {
      expect((await raw.until(id, 'error')).payload).toMatchObject(REFUSED);
      const types = raw.of(id).map(({ type }) => type);
      expect(types.slice(types.indexOf('error'))).toEqual(['error']);
      expect(raw.of(id).every(({ type, payload }) => type === 'error' || !payload?.errors)).toBe(
        true,
      );
    }
    // One that begins with it has an error as well, and no result.
    raw.subscribe('c', LIST);
    expect((await raw.until('c', 'error')).payload).toMatchObject(REFUSED);
    expect(raw.of('c')).toHaveLength(1);
    raw.subscribe('d', '{ __typename }');
    await raw.until('d', 'complete');
    expect(raw.closed).toBeNull();
  });

  test('gets one when its token expires', async () => {
    using raw = await openSocket(app);
    raw.say(init(app.sandbox.token({ ...DEMO, expiresInSeconds: SHORT_SECONDS })));
    raw.subscribe('a', LIST);
    expect((await raw.until('a', 'error')).payload).toMatchObject(REFUSED);
    expect(raw.closed).toBeNull();
  });
});

describe('a token that the gateway revokes', () => {
  test('ends the subscriptions of its own device; the two others miss nothing', async () => {
    const tokens = [1, 2, 3].map(() => app.sandbox.token(DEMO));
    const watchers = tokens.flatMap((token) => [
      opened(webSocketClient(app, token)).watch(),
      opened(sseClient(app, token)).watch(),
    ]);
    const [socket, stream, other, ...others] = watchers as [Watcher, Watcher, Watcher];
    await eventually(() => watchers.every(hasList));
    app.sandbox.revoke({ token: tokens[0] as string });
    await eventually(() => socket.ended !== null && stream.ended !== null);
    expect(socket.ended).toMatchObject(UNAUTHENTICATED);
    expect(socket.errors).toEqual([]);
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
    for (let change = 0; change < 3; change += 1) {
      const before = other.events.length;
      app.sandbox.tick();
      await eventually(() => other.events.length > before);
    }
    await eventually(() => {
      for (const { list } of others as Watcher[]) expect(list).toEqual(other.list);
    });
    for (const { events, ended } of watchers.slice(2)) {
      expect(ended).toBeNull();
      expect(events.every(({ status }) => status === 'LIVE')).toBe(true);
    }
  });

  test('closes the socket with FORBIDDEN where the gateway says so, and sends the reason over an event stream', async () => {
    const token = app.sandbox.token(DEMO);
    const socket = opened(webSocketClient(app, token)).watch();
    const stream = opened(sseClient(app, token)).watch();
    await eventually(() => [socket, stream].every(hasList));
    const body = { error: 'RESTRICTED', message: 'The account is restricted.' };
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 403, body });
    await eventually(() => socket.ended !== null && stream.ended !== null);
    expect(socket.ended).toMatchObject({ code: 4403, reason: 'FORBIDDEN' });
    expect(stream.errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', gatewayError: { error: 'RESTRICTED' } } },
    ]);
  });
});

describe('a token that is invalid already', () => {
  const expired = () => app.sandbox.token({ ...DEMO, expiresInSeconds: -3_600 });
  const revoked = () => {
    const token = app.sandbox.token(DEMO);
    app.sandbox.revoke({ token });
    return token;
  };

  test.each([
    ['expired', expired],
    ['revoked', revoked],
    ['no token at all in its shape', () => 'garbage'],
  ])('closes the socket immediately, as one that ends later does: %s', async (_how, token) => {
    using raw = await initializedSocket(app, token());
    raw.subscribe('a', CHANGES);
    expect(await raw.close()).toEqual(UNAUTHENTICATED);
    expect(raw.messages.map(({ type }) => type)).toEqual(['connection_ack']);
    const stream = opened(sseClient(app, token())).watch();
    await eventually(() => stream.ended !== null);
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
  });

  test('does not close the socket for a query, which is answered', async () => {
    using raw = await initializedSocket(app, expired());
    const { payload } = await raw.watch('a', '{ positions { id } }');
    expect(codesOf(payload)).toEqual(['UNAUTHENTICATED']);
    const next = await raw.watch('b', '{ __typename }');
    expect(next.payload.data).toEqual({ __typename: 'Query' });
    expect(app.sandbox.callCounts().total).toBe(0);
  });

  test('where none was sent the subscription alone ends: the socket may sign in', async () => {
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
});

describe.each(VIEWS)('%s: a forged token with a victim’s login', (_view, changes) => {
  test('reveals nothing, not even whether the victim’s feed runs', async () => {
    // New tokens each time: one that was refused a moment ago is not sent to the gateway again.
    const forgeries = (exp: number) => [
      withClaims(app.sandbox.token({ ...DEMO, signature: 'forged' }), { exp }),
      withClaims(app.sandbox.token({ email: 'fresh@example.com' }), { login: 700_001, exp }),
      unsignedToken({ login: 700_001, group: 'standard-usd', exp }),
    ];
    const attempt = async (token: string, after: string | null) => {
      app.sandbox.clearCalls();
      using raw = await initializedSocket(app, token);
      raw.subscribe('a', changes, { after });
      const closed = await raw.close();
      const query = '{ positions { id } session { positions { id } } }';
      const answer = await app.query(query, { token });
      const sessions = app.sandbox.requests('getSession').length;
      const { messages } = raw;
      return { closed, messages, data: answer.data, codes: codesOf(answer), sessions };
    };
    const alone = [];
    for (const token of forgeries(4_000_000_000)) alone.push(await attempt(token, null));
    const victim = opened(webSocketClient(app, app.sandbox.token(DEMO))).watch({}, changes);
    await eventually(() => hasList(victim));
    for (const [at, token] of forgeries(4_000_000_001).entries()) {
      const stolen = victim.last?.cursor ?? null;
      const seen = await attempt(token, stolen);
      expect(seen).toEqual(alone[at]);
      const data = { positions: null, session: null };
      expect(seen).toMatchObject({ closed: UNAUTHENTICATED, data });
    }
    // The victim's feed is not affected.
    const before = victim.events.length;
    app.sandbox.tick();
    await eventually(() => victim.events.length > before);
    expect(victim.events.every(({ status }) => status === 'LIVE')).toBe(true);
    expect(victim.ended).toBeNull();
  });
});
