import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited } from '../../support/limits.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { CHANGES } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';

const HEALTH = 'GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n';
const UPGRADE = [
  'GET /graphql HTTP/1.1',
  'host: facade',
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol: graphql-transport-ws',
  '\r\n',
].join('\r\n');

/** A connection that has been answered. */
async function healthy(app: TestApp, address?: string) {
  const raw = await openRaw(app.url, address);
  raw.socket.write(HEALTH);
  await eventually(() => raw.received.includes('200 OK'));
  return raw;
}

/** A connection over which events come. */
async function busy(app: TestApp, address?: string) {
  const raw = await openRaw(app.url, address);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const head = `authorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`;
  const query = encodeURIComponent(CHANGES);
  raw.socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nhost: facade\r\n${head}`);
  await eventually(() => raw.received.includes('cursor'));
  return raw;
}

async function hasRoom(app: TestApp): Promise<boolean> {
  using next = await openRaw(app.url);
  next.socket.write(HEALTH);
  await eventually(() => next.isClosed || next.received.includes('200 OK'));
  return next.received.includes('200 OK');
}

test('a process has a limit of connections; one more is closed, until another disconnects', async () => {
  await using app = await startTestApp({}, { connections: { most: 2 } });
  using first = await busy(app);
  using _second = await busy(app);
  using third = await openRaw(app.url);
  third.socket.write(HEALTH);
  await eventually(() => third.isClosed);
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
  using socket = await openRaw(app.url, fullest);
  socket.socket.write(UPGRADE);
  await eventually(() => socket.received.includes('101 Switching Protocols'));
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
    const socketOf = async (address: string) => {
      const raw = await openRaw(app.url);
      raw.socket.write(UPGRADE.replace('\r\n', `\r\nx-forwarded-for: ${address}\r\n`));
      await eventually(() => raw.received.includes('101 Switching Protocols'));
      return raw;
    };
    using calm = await socketOf('192.0.2.1');
    using first = await socketOf(of[0]);
    using second = await socketOf(of[1]);
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
  const from = (address: string) => UPGRADE.replace('\r\n', `\r\nx-forwarded-for: ${address}\r\n`);
  const upgraded = async (address: string) => {
    const raw = await openRaw(app.url);
    raw.socket.write(from(address));
    await eventually(() => raw.received.includes('\r\n\r\n'));
    return raw;
  };
  using first = await upgraded('192.0.2.1');
  using _second = await upgraded('192.0.2.1');
  using third = await upgraded('192.0.2.1');
  expect(third.received).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
  using other = await upgraded('192.0.2.2');
  expect(other.received).toMatch(/^HTTP\/1\.1 101 /);
  first.socket.destroy();
  await eventually(async () => {
    using next = await upgraded('192.0.2.1');
    return next.received.startsWith('HTTP/1.1 101 ');
  });
});

test('a socket counts for its account once that is proved, and no more for its address', async () => {
  await using app = await startTestApp({}, { limits: limited('connections', 4) });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const sockets = [];
  // Two are what one token has of four.
  for (const email of ['demo@example.com', 'pro@example.com', 'fresh@example.com']) {
    for (let at = 0; at < 2; at += 1) {
      const raw = await initializedSocket(app, app.sandbox.token({ email }));
      raw.subscribe('1', '{ session { login } }');
      await raw.until('1', 'complete');
      sockets.push(raw);
    }
  }
  using raw = await initializedSocket(app, token);
  raw.subscribe('1', '{ session { login } }');
  await raw.until('1', 'complete');
  for (const each of sockets) each[Symbol.dispose]();
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
