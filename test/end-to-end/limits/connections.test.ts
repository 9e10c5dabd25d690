import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited } from '../../support/limits.ts';
import { UPGRADE } from '../../support/websocket-frames.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { CHANGES } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';
import { postOf } from './slow-reader.ts';

const HEALTH = 'GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n';
const SWITCHED = /^HTTP\/1\.1 101 /;
/** A connection whose request has been answered so far, or that is closed. */
async function asked(app: TestApp, request: string, answer: string, address?: string) {
  const raw = await openRaw(app.url, address);
  raw.socket.write(request);
  await eventually(() => raw.isClosed || raw.received.includes(answer));
  return raw;
}

/** A connection that has been answered. */
const healthy = (app: TestApp, address?: string) => asked(app, HEALTH, '200 OK', address);

/** A connection over which events come. */
const busy = (app: TestApp, address?: string) => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const headers = { accept: 'text/event-stream' };
  return asked(app, postOf(CHANGES, { token, headers }), 'cursor', address);
};

/** A socket, or its refusal; of a client behind a proxy where that is given. */
const upgraded = (app: TestApp, client?: string, address?: string) => {
  const from = client === undefined ? '' : `\r\nx-forwarded-for: ${client}`;
  return asked(app, UPGRADE.replace('\r\n', `${from}\r\n`), '\r\n\r\n', address);
};

async function hasRoom(app: TestApp): Promise<boolean> {
  using next = await healthy(app);
  return next.received.includes('200 OK');
}

test('a process has a limit of connections; one more is closed, until another disconnects', async () => {
  await using app = await startTestApp({}, { connections: { most: 2 } });
  using first = await busy(app);
  using _second = await busy(app);
  using third = await healthy(app);
  expect(third.isClosed).toBe(true);
  expect(third.received).toBe('');
  expect(await seriesValue(app, 'refusals_total{limit="connections"}')).toBe(1);
  first.socket.destroy();
  await eventually(() => hasRoom(app));
});

test('before a process has none left the oldest connection that is idle goes, of the address that has most', async () => {
  await using app = await startTestApp({}, { connections: { most: 8 } });
  const [neighbour, fullest, other] = ['127.0.1.1', '127.0.1.2', '127.0.1.3'] as const;
  using calm = await healthy(app, neighbour);
  using watching = await busy(app, fullest);
  using socket = await upgraded(app, undefined, fullest);
  expect(socket.received).toMatch(SWITCHED);
  using unsent = await openRaw(app.url, fullest);
  unsent.socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{');
  using last = await healthy(app, fullest);
  const closed = () => [calm, watching, socket, unsent, last].map(({ isClosed }) => isClosed);
  using _sixth = await healthy(app, other);
  expect(closed()).toEqual([false, false, false, false, false]);
  expect(await seriesValue(app, 'connections{state="open"}')).toBe(6);
  expect(await seriesValue(app, 'connections{state="max"}')).toBe(8);
  using _seventh = await healthy(app, other);
  await eventually(() => socket.isClosed);
  using _eighth = await healthy(app, other);
  await eventually(() => unsent.isClosed);
  expect(closed()).toEqual([false, false, true, true, false]);
  expect(await seriesValue(app, 'refusals_total{limit="connections"}')).toBe(2);
});

test.each([
  ['addresses', '192.0.2.2', '192.0.2.2'],
  ['/48 networks', '2001:db8:0:1::1', '2001:db8:0:ffff::1'],
])(
  'behind a proxy its idle sockets go by the %s of their clients, and its other connections stay',
  async (_what, ...of) => {
    const environment = { TRUSTED_PROXIES: '127.0.0.1' };
    await using app = await startTestApp(environment, { connections: { most: 6 } });
    using proxys = await healthy(app);
    using calm = await upgraded(app, '192.0.2.1');
    using first = await upgraded(app, of[0]);
    using second = await upgraded(app, of[1]);
    for (const each of [calm, first, second]) expect(each.received).toMatch(SWITCHED);
    using _third = await healthy(app);
    await eventually(() => first.isClosed);
    expect([proxys.isClosed, calm.isClosed, second.isClosed]).toEqual([false, false, false]);
  },
);

test('an address has a limit of connections, sockets too; one more is closed', async () => {
  await using app = await startTestApp({}, { limits: limited('connections', 2) });
  using first = await healthy(app);
  using _second = await healthy(app);
  using third = await openRaw(app.url);
  await eventually(() => third.isClosed);
  expect(third.received).toBe('');
  expect(await seriesValue(app, 'refusals_total{limit="connections"}')).toBe(1);
  first.socket.write(UPGRADE);
  await eventually(() => first.received.includes('101 Switching Protocols'));
  expect(await hasRoom(app)).toBe(false);
  first.socket.destroy();
  await eventually(() => hasRoom(app));
});

test('behind a trusted proxy each address has a limit of unproved sockets; one more is answered 429', async () => {
  await using app = await startTestApp(
    { TRUSTED_PROXIES: '127.0.0.1' },
    { limits: limited('connections', 2) },
  );
  using first = await upgraded(app, '192.0.2.1');
  using _second = await upgraded(app, '192.0.2.1');
  using third = await upgraded(app, '192.0.2.1');
  expect(third.received).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  using other = await upgraded(app, '192.0.2.2');
  expect(other.received).toMatch(SWITCHED);
  first.socket.destroy();
  await eventually(async () => {
    using next = await upgraded(app, '192.0.2.1');
    return SWITCHED.test(next.received);
  });
});

test('a socket counts for its account once that is proved, and no more for its address', async () => {
  await using app = await startTestApp({}, { limits: limited('connections', 4) });
  using sockets = new DisposableStack();
  // Two are what one token has of four.
  const [demo, pro, fresh] = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
  for (const email of [demo, demo, pro, pro, fresh, fresh, demo] as const) {
    const raw = sockets.use(await initializedSocket(app, app.sandbox.token({ email })));
    raw.subscribe('1', '{ session { login } }');
    await raw.until('1', 'complete');
  }
});

test.each([
  ['of another origin', UPGRADE.replace('\r\n', '\r\norigin: https://x.example\r\n')],
  ['with a body', `${UPGRADE.replace('\r\n', '\r\ncontent-length: 5\r\n')}1`],
  ...['host: other', 'content-type: a\r\nContent-Type: b'].map((header) => [
    `with a header that comes twice (${header.slice(0, 4)})`,
    UPGRADE.replace('\r\n', `\r\n${header}\r\n`),
  ]),
])(
  'a refused upgrade %s takes up no connection, although its client keeps it open',
  async (_what, upgrade) => {
    await using app = await startTestApp({}, { connections: { most: 1 } });
    const { hostname, port } = new URL(app.url);
    const kept = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    kept.on('error', () => {});
    kept.write(upgrade);
    const [answer] = await once(kept, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 40[03] /);
    await eventually(() => hasRoom(app));
    kept.destroy();
  },
);
