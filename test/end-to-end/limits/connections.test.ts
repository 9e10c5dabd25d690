import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited } from '../../support/limits.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { UPGRADE } from '../../support/websocket-frames.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { CHANGES } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';
import { codesOf } from './every-transport.ts';
import { postOf } from './slow-reader.ts';

/** A service with its usual limits of connections. */
const usual = sharedApp({ RATE_LIMIT_PER_MINUTE: '100000', MAX_BODY_BYTES: '400000' });

const HEALTH = 'GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n';
const SWITCHED = /^HTTP\/1\.1 101 /;

/** Opens a connection, sends a request, and waits until it receives the answer or is closed. */
async function openAndAsk(app: TestApp, request: string, answer: string) {
  const raw = await openRaw(app.url);
  raw.socket.write(request);
  await eventually(() => raw.isClosed || raw.received.includes(answer));
  return raw;
}

/** Opens a connection, and asks for the health of the service. */
const openIdle = (app: TestApp) => openAndAsk(app, HEALTH, '200 OK');

/** Opens a connection with an event stream. */
const openStream = (app: TestApp) => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const headers = { accept: 'text/event-stream' };
  return openAndAsk(app, postOf(CHANGES, { token, headers }), 'cursor');
};

/** Opens a connection, and asks for a WebSocket, optionally for a client behind a proxy. */
const openAndUpgrade = (app: TestApp, client?: string) => {
  const from = client === undefined ? '' : `\r\nx-forwarded-for: ${client}`;
  return openAndAsk(app, UPGRADE.replace('\r\n', `${from}\r\n`), '\r\n\r\n');
};

async function hasRoom(app: TestApp): Promise<boolean> {
  using next = await openIdle(app);
  return next.received.includes('200 OK');
}

test('a process closes each connection over its limit until an earlier connection ends', async () => {
  await using app = await startTestApp({}, { connections: { most: 2 } });
  using first = await openStream(app);
  using _second = await openStream(app);
  using third = await openIdle(app);
  expect(third.isClosed).toBe(true);
  expect(third.received).toBe('');
  expect(await seriesValue(app, 'refusals_total{limit="connections"}')).toBe(1);
  first.socket.destroy();
  await eventually(() => hasRoom(app));
});

test('behind a trusted proxy a socket over the limit of its own address gets 429', async () => {
  await using app = await startTestApp(
    { TRUSTED_PROXIES: '127.0.0.1' },
    { limits: limited('connections', 2) },
  );
  using first = await openAndUpgrade(app, '192.0.2.1');
  using _second = await openAndUpgrade(app, '192.0.2.1');
  using third = await openAndUpgrade(app, '192.0.2.1');
  expect(third.received).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  expect(third.received).toMatch(/\r\nretry-after: 10\r\n/);
  expect(third.received).toContain('"code":"RATE_LIMITED"');
  using other = await openAndUpgrade(app, '192.0.2.2');
  expect(other.received).toMatch(SWITCHED);
  first.socket.destroy();
  await eventually(async () => {
    using next = await openAndUpgrade(app, '192.0.2.1');
    return SWITCHED.test(next.received);
  });
});

test('a connection whose upgrade was refused no longer counts, even if its client keeps it open', async () => {
  await using app = await startTestApp({}, { connections: { most: 1 } });
  const { hostname, port } = new URL(app.url);
  const halfOpen = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  halfOpen.on('error', () => {});
  halfOpen.write(UPGRADE.replace('\r\n', '\r\norigin: https://x.example\r\n'));
  const [answer] = await once(halfOpen, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
  await eventually(() => hasRoom(app));
  halfOpen.destroy();
});

test('subscriptions that fail to start do not count towards the limits', async () => {
  const token = usual.sandbox.token({ email: 'user-4@example.com' });
  await usual.query('{ session { login } }', { token });
  using raw = await initializedSocket(usual, token);
  // The batches together exceed the limit of an account. One batch is below the limit of a socket.
  const batchSize = 50;
  const completed = () => raw.messages.filter(({ type }) => type === 'complete').length;
  for (let batch = 1; batch <= 6; batch += 1) {
    for (let each = 0; each < batchSize; each += 1) {
      raw.subscribe(`${batch} ${each}`, CHANGES, { intervalMs: 0 });
    }
    await eventually(() => completed() === batch * batchSize);
  }
  const refused = raw.messages.flatMap(({ payload }) => codesOf(payload ?? {}));
  expect(new Set(refused)).toEqual(new Set(['BAD_USER_INPUT']));
  await raw.watch('good');
});

const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

test('a deeply nested message closes at most its own socket', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  using raw = await openSocket(usual);
  raw.send(`{"type":"connection_init","payload":{"deep":${deep}}}`);
  await eventually(() => raw.messages.some(({ type }) => type === 'connection_ack'), raw.whileOpen);
  using other = await initializedSocket(usual);
  raw.send(`{"type":"ping","payload":{"deep":${deep}}}`);
  await eventually(() => raw.closed !== null || raw.messages.some(({ type }) => type === 'pong'));
  // Before Node 26 the pong, which repeats the ping's payload, overflows the stack.
  expect(raw.closed?.code ?? null).toBe(NODE_MAJOR < 26 ? 4500 : null);
  expect((await other.watch('1', '{ __typename }')).payload.data).toEqual({ __typename: 'Query' });
});
