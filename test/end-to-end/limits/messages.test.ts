import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited, withoutRefills } from '../../support/limits.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';
import { postOf, statusesIn } from './slow-reader.ts';

const FEW = 20;
const LARGEST = 262_144;

const start = () => startTestApp({}, { limits: withoutRefills(limited('messages', FEW)) });

const refusals = (app: TestApp) => seriesValue(app, 'refusals_total{limit="messages"}');

/** Empties the budget of the address of all that is sent here, and goes on for nearly as much again. */
async function flood(app: TestApp): Promise<number[]> {
  const statuses = [];
  for (let sent = 0; sent < 2 * FEW - 2; sent += 1) {
    statuses.push((await rawRequest(`${app.url}/nothing`)).status);
  }
  return statuses;
}

test('a body that is announced and never sent is charged as its head, and one that is sent by its size', async () => {
  await using app = await start();
  const head = `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${LARGEST}\r\n\r\n`;
  const idle = await Promise.all(Array.from({ length: 6 }, () => openRaw(app.url)));
  for (const { socket } of idle) await new Promise((resolve) => socket.write(head, resolve));
  for (let at = 1; at <= 10; at += 1) {
    expect(await app.signIn(`user-${at}@example.com`)).toMatch(/^ey/);
  }
  for (const { socket } of idle) socket.destroy();
  expect(await refusals(app)).toBe(0);
  // Four are left, and this one takes seventeen.
  expect((await rawPost(`${app.url}/nothing`, ' '.repeat(LARGEST))).status).toBe(404);
  expect((await rawRequest(`${app.url}/nothing`)).status).toBe(429);
});

test('behind an address that has sent too much, or far too much, sign-ins and known tokens pass, and preflights', async () => {
  await using app = await start();
  const known = await app.signIn('pro@example.com');
  expect((await flood(app)).filter((status) => status === 429)).toHaveLength(FEW - 1);
  for (const email of ['demo@example.com', 'fresh@example.com']) {
    const token = await app.signIn(email);
    const { data } = await app.query('{ session { login } }', { token });
    expect(data.session.login).toEqual(expect.anything());
  }
  expect((await app.query('{ session { login } }', { token: known })).errors).toEqual([]);
  const graphql = `${app.url}/graphql`;
  expect((await rawRequest(graphql, { method: 'OPTIONS' })).status).toBe(204);
  const stranger = app.sandbox.token({ email: 'demo@example.com' });
  const refused = await app.query('{ session { login } }', { token: stranger });
  expect([refused.status, refused.errors[0]?.extensions.code]).toEqual([429, 'RATE_LIMITED']);
  // A sign-in that is padded is read no further.
  const login =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  const padded = JSON.stringify({ query: login.padEnd(5_000) });
  await expect(rawPost(graphql, padded)).rejects.toThrow();
  await expect(rawRequest(`${app.url}/nothing`)).rejects.toThrow();
});

test('what goes on behind an address that has sent far too much is answered a few times on a connection, and cut', async () => {
  await using app = await start();
  await flood(app);
  using raw = await openRaw(app.url);
  const answers = () => statusesIn(raw).filter((status) => status === '429').length;
  for (let sent = 1; sent <= 10 && !raw.isClosed; sent += 1) {
    raw.socket.write(postOf('{ __typename }'));
    await eventually(() => raw.isClosed || answers() === sent);
  }
  expect(raw.isClosed).toBe(true);
  // Up to two of them before it was far too much.
  expect(answers()).toBeGreaterThanOrEqual(5);
  expect(answers()).toBeLessThanOrEqual(2 + 5);
});

test('messages of all sockets of an address count together, however few each of them sends', async () => {
  await using app = await start();
  const sockets = await Promise.all(Array.from({ length: 8 }, () => initializedSocket(app)));
  for (const { socket } of sockets) {
    for (let sent = 0; sent < 10; sent += 1) socket.send('{"type":"complete","id":"none"}');
  }
  await eventually(() => sockets.some(({ closed }) => closed?.code === 1013));
  expect(await refusals(app)).toBeGreaterThan(0);
  for (const socket of sockets) socket[Symbol.dispose]();
});

test('a packed message of a socket is charged as what it unpacks to', async () => {
  await using app = await start();
  const init = `{"type":"connection_init"}${' '.repeat(200_000)}`;
  const opened = async () => {
    const raw = await openSocket(app, undefined, { perMessageDeflate: true });
    raw.say(init);
    return raw;
  };
  using first = await opened();
  await eventually(() => first.messages.length === 1);
  using second = await opened();
  expect(await second.close()).toEqual({ code: 1013, reason: 'Too many messages' });
});
