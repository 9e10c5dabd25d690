import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket, isServed, openSocket } from '../live/raw-socket.ts';
import { CHANGES } from '../live/watcher.ts';
import { codesOf } from './every-transport.ts';

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '100000', MAX_BODY_BYTES: '400000' });

const demo = () => app.sandbox.token({ email: 'demo@example.com' });

test('an account has a limit of sockets; one more is closed with 1013', async () => {
  const tokens = [demo(), demo(), demo()] as const;
  using sockets = new DisposableStack();
  using first = await initializedSocket(app, tokens[0]);
  await first.watch('1');
  // Half of them for each token.
  for (let at = 1; at < 128; at += 1) {
    await sockets.use(await initializedSocket(app, tokens[at % 2])).watch('1');
  }
  for (const each of tokens) {
    using oneMore = await initializedSocket(app, each);
    oneMore.subscribe('1', CHANGES);
    expect(await oneMore.close()).toEqual({ code: 1013, reason: 'Too many sockets' });
  }
  expect(await isServed(app, app.sandbox.token({ email: 'pro@example.com' }))).toBe(true);
  // A socket that disconnects makes room.
  first.socket.terminate();
  await eventually(() => isServed(app, tokens[0]));
});

test('an account has a limit of subscriptions, over all its sockets', async () => {
  const tokens = [1, 2, 3].map(() => app.sandbox.token({ email: 'fresh@example.com' }));
  for (const token of tokens) await app.query('{ session { login } }', { token });
  using first = await initializedSocket(app, tokens[0]);
  using second = await initializedSocket(app, tokens[1]);
  using third = await initializedSocket(app, tokens[2]);
  const sockets = [first, second, third];
  for (let at = 0; at < 90; at += 1) for (const raw of sockets) raw.subscribe(`${at}`, CHANGES);
  const refused = () =>
    sockets
      .flatMap(({ messages }) => messages)
      .flatMap(({ payload }) => payload?.errors ?? (Array.isArray(payload) ? payload : []));
  await eventually(() => refused().length === 270 - 256);
  for (const { extensions } of refused()) {
    expect(extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) });
  }
  expect(codesOf((await first.watch('later')).payload)).toEqual(['RATE_LIMITED']);
  third.socket.terminate();
  await eventually(async () => {
    first.messages.length = 0;
    first.subscribe('again', CHANGES);
    await eventually(() => first.of('again').length > 0);
    return first.of('again')[0]?.type === 'next';
  });
  expect(second.closed).toBeNull();
});

test('subscriptions that fail to start leave room for others, however many they are', async () => {
  const token = app.sandbox.token({ email: 'swapfree@example.com' });
  await app.query('{ session { login } }', { token });
  using raw = await initializedSocket(app, token);
  // More than an account may have, fewer at the same time than a socket may.
  for (let batch = 0; batch < 6; batch += 1) {
    for (let at = 0; at < 50; at += 1) raw.subscribe(`${batch} ${at}`, CHANGES, { intervalMs: 0 });
    await eventually(
      () => raw.messages.filter(({ type }) => type === 'complete').length === (batch + 1) * 50,
    );
  }
  const refused = raw.messages.flatMap(({ payload }) => codesOf(payload ?? {}));
  expect(new Set(refused)).toEqual(new Set(['BAD_USER_INPUT']));
  await raw.watch('good');
});

const MAJOR = Number.parseInt(process.versions.node, 10);

describe('a message of a hundred thousand levels', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

  test('as the payload of connection_init is accepted', async () => {
    using raw = await openSocket(app);
    raw.say(`{"type":"connection_init","payload":{"deep":${deep}}}`);
    await eventually(() => raw.messages.some(({ type }) => type === 'connection_ack'));
  });

  test('as a ping is answered, or closes its own socket alone', async () => {
    using other = await initializedSocket(app);
    using raw = await initializedSocket(app);
    raw.say(`{"type":"ping","payload":{"deep":${deep}}}`);
    await eventually(() => raw.closed !== null || raw.messages.some(({ type }) => type === 'pong'));
    // Node 24 has no stack for an echo so deep.
    expect(raw.closed?.code ?? null).toBe(MAJOR < 26 ? 4400 : null);
    other.subscribe('1', '{ __typename }');
    expect((await other.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
  });
});

test('a request that stalls in its headers is answered with 408 and disconnected', async () => {
  using raw = await openRaw(app.url);
  raw.socket.write('POST /graphql HTTP/1.1\r\nhost: x\r\nx-slow: ');
  await eventually(() => raw.isClosed);
  expect(raw.received).toMatch(/^HTTP\/1\.1 408 /);
});
