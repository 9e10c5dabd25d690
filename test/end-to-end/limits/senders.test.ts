import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';
import { stepUntil } from '../../support/steps.ts';
import { frame, OPCODES } from '../../support/websocket-frames.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket, type RawSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';
import { postOf, statusesIn } from './slow-reader.ts';

/** The time within which a message has to arrive whole. */
const UNFINISHED_MS = 30_000;
/** The interval at which that is looked at. */
const LOOK_MS = 1_000;
/** What a client may send at once: two minutes' worth of the lowest rate. */
const BURST = 2_400;
/** How long a socket that is closed for what it sent may take to read why. */
const LINGER_MS = 1_000;

const HEAD = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-type: application/json\r\n';

const cuts = (app: TestApp, reason: string) =>
  seriesValue(app, `senders_cut_total{reason="${reason}"}`);
const heldBytes = (app: TestApp) => seriesValue(app, 'receive_buffer_bytes');

/** A service for which no time passes but what a test lets pass: budgets would be refilled while a busy machine sends. */
async function startAtRest() {
  const clock = createScriptedClock(0);
  // A ping's answer would come into the middle of a frame that a test writes in parts.
  const app = await startTestApp({}, { connections: { clock, pingMs: 86_400_000 } });
  return { app, clock, [Symbol.asyncDispose]: () => app.close() };
}

/** Waits for the close frame, and lets the time pass in which the client may answer it. */
async function closing(raw: RawSocket, clock: ScriptedClock) {
  await eventually(() => raw.socket.readyState !== WebSocket.OPEN);
  await clock.advance(LINGER_MS);
  return raw.close();
}

describe('a WebSocket', () => {
  test('may send a message in 64 fragments, not in more', async () => {
    await using app = await startTestApp();
    const payload = { query: '{ __typename }' };
    const message = JSON.stringify({ id: '1', type: 'subscribe', payload });
    const inFragments = (count: number) =>
      Array.from({ length: count }, (_, at) => {
        const isLast = at === count - 1;
        const text = isLast ? message.slice(at) : message.charAt(at);
        return frame(at === 0 ? OPCODES.text : OPCODES.continuation, Buffer.from(text), { isLast });
      });
    using allowed = await initializedSocket(app);
    allowed.stream.write(Buffer.concat(inFragments(64)));
    expect((await allowed.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
    using other = await initializedSocket(app);
    other.stream.write(Buffer.concat(inFragments(65)));
    expect((await other.close()).code).toBe(1008);
    expect(await cuts(app, 'pieces')).toBe(1);
  });

  test('is closed for a message that has not arrived whole in time, and nothing of it is kept', async () => {
    await using stage = await startAtRest();
    const { app, clock } = stage;
    using slow = await initializedSocket(app);
    slow.stream.write(frame(OPCODES.text, Buffer.alloc(100_000), { announced: 200_000 }));
    await eventually(async () => (await heldBytes(app)) >= 100_000);
    await clock.advance(UNFINISHED_MS - 1);
    expect(await cuts(app, 'age')).toBe(0);
    await clock.advance(LOOK_MS);
    const end = { code: 1008, reason: 'Message took too long' };
    expect(await closing(slow, clock)).toEqual(end);
    expect(await heldBytes(app)).toBe(0);
    expect(await cuts(app, 'age')).toBe(1);
  });

  test.each([
    ['pings of the protocol', OPCODES.text, '{"type":"ping"}'],
    ['ends of unknown operations', OPCODES.text, '{"type":"complete","id":"none"}'],
    ['WebSocket pings', OPCODES.ping, ''],
  ])('is closed where it goes on sending %s', async (_what, opcode, message) => {
    await using stage = await startAtRest();
    const { app, clock } = stage;
    using flood = await initializedSocket(app);
    const many = Buffer.concat(Array(500).fill(frame(opcode, Buffer.from(message))));
    const raw = flood.stream;
    const send = () => {
      if (flood.closed === null && !raw.destroyed) raw.write(many, () => setImmediate(send));
    };
    send();
    expect(await closing(flood, clock)).toEqual({ code: 1013, reason: 'Too many messages' });
    expect(await cuts(app, 'rate')).toBe(1);
  });
});

test('a body that has not arrived whole counts, also behind a request that is answered meanwhile', async () => {
  await using app = await startTestApp();
  const body = '{"query":"{ __typename }"}';
  const begun = `${HEAD}content-length: 100000\r\n\r\n${' '.repeat(30_000)}`;
  using raw = await openRaw(app.url);
  raw.socket.write(postOf('{ __typename }') + begun);
  await eventually(() => raw.received.startsWith('HTTP/1.1 200'));
  await eventually(async () => (await heldBytes(app)) >= 30_000);
  raw.socket.write(' '.repeat(1_000));
  await eventually(async () => (await heldBytes(app)) >= 31_000);
  expect(await heldBytes(app)).toBeLessThan(35_000);
  raw.socket.write(body.padStart(69_000));
  await eventually(() => statusesIn(raw).join() === '200,200');
  expect(await heldBytes(app)).toBe(0);
});

describe('requests that are refused', () => {
  const NOT_FOUND = 'GET /nothing HTTP/1.1\r\nhost: facade\r\n\r\n';

  test('count: what is not found is answered 429 beyond the budget, and then not at all', async () => {
    await using app = await startTestApp({}, { refills: false });
    using raw = await openRaw(app.url);
    for (let sent = 40; sent <= 2 * BURST; sent += 40) {
      raw.socket.write(NOT_FOUND.repeat(40));
      await eventually(() => statusesIn(raw).length === sent);
    }
    expect(statusesIn(raw).filter((status) => status === '429')).toHaveLength(BURST);
    expect(raw.received).toMatch(/retry-after: \d+/);
    raw.socket.write(NOT_FOUND);
    await eventually(() => raw.isClosed);
    const requests = 'http_requests_total{status="4xx"}';
    expect(await seriesValue(app, requests)).toBe(statusesIn(raw).length);
    expect(await cuts(app, 'rate')).toBe(1);
    using probe = await openRaw(app.url);
    probe.socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n');
    await eventually(() => probe.isClosed || probe.received.includes('"status":"ok"'));
  });

  test('that nobody reads the chunks of leave others their turns', async () => {
    await using app = await startTestApp();
    const floods = await Promise.all(Array.from({ length: 8 }, () => openRaw(app.url)));
    using calm = await openRaw(app.url);
    const answers = () => floods.flatMap(statusesIn).length;
    let before = 0;
    calm.socket.once('data', () => {
      before = answers();
    });
    const head = 'POST /nothing HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
    const flood = `${head}${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n${NOT_FOUND}`;
    for (const { socket } of floods) socket.write(flood);
    calm.socket.write(NOT_FOUND);
    await eventually(() => answers() === 16);
    for (const { socket } of floods) socket.destroy();
    expect(before).toBeLessThanOrEqual(8);
  });

  test("behind a proxy they count against their own client, and the proxy's connection stays open", async () => {
    await using app = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' }, { refills: false });
    using raw = await openRaw(app.url);
    const from = (address: string) =>
      NOT_FOUND.replace('host', `x-forwarded-for: ${address}\r\nhost`);
    const found = () => statusesIn(raw).filter((status) => status === '404').length;
    for (let sent = 40; sent <= 3_200; sent += 40) {
      raw.socket.write(from('192.0.2.1').repeat(40));
      await eventually(() => statusesIn(raw).length === sent);
    }
    expect(found()).toBe(BURST);
    raw.socket.write(from('192.0.2.2'));
    await eventually(() => found() === BURST + 1);
    expect(raw.isClosed).toBe(false);
  });

  test('behind a proxy count by what came where their bodies are in chunks, and their connection stays open', async () => {
    await using app = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' }, { refills: false });
    using raw = await openRaw(app.url);
    const chunked = `${HEAD}x-forwarded-for: 192.0.2.1\r\ntransfer-encoding: chunked\r\n\r\n`;
    const body = `${`4000\r\n${'x'.repeat(0x4000)}\r\n`.repeat(15)}0\r\n\r\n`;
    let sent = 0;
    const send = () => {
      sent += 1;
      raw.socket.write(chunked + body);
      return eventually(() => statusesIn(raw).length === sent || raw.isClosed);
    };
    await stepUntil(() => raw.received.includes('HTTP/1.1 429 '), send, 500);
    expect(sent).toBeGreaterThan(100);
    expect(raw.isClosed).toBe(false);
  });
});
