import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { limited, withoutRefills } from '../../support/limits.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { frame, OPCODES, UPGRADE } from '../../support/websocket-frames.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { seriesValue } from '../operations/scraped.ts';
import { postOf, statusesIn } from './slow-reader.ts';

const HEAD = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-type: application/json\r\n';

const refusals = (app: TestApp) => seriesValue(app, 'refusals_total{limit="messages"}');
const receivedBytes = (app: TestApp) => seriesValue(app, 'receive_buffer_bytes');

describe('a WebSocket', () => {
  test('is closed if a message has more than 64 fragments', async () => {
    await using app = await startTestApp();
    const payload = { query: '{ __typename }' };
    const message = JSON.stringify({ id: '1', type: 'subscribe', payload });
    const inFragments = (count: number) =>
      Array.from({ length: count }, (_, index) => {
        const isLast = index === count - 1;
        // The last fragment has all remaining characters; each fragment before it has one.
        const text = isLast ? message.slice(index) : message.charAt(index);
        const opcode = index === 0 ? OPCODES.text : OPCODES.continuation;
        return frame(opcode, Buffer.from(text), { isLast });
      });
    using allowed = await initializedSocket(app);
    allowed.stream.write(Buffer.concat(inFragments(64)));
    expect((await allowed.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
    using other = await initializedSocket(app);
    other.stream.write(Buffer.concat(inFragments(65)));
    expect((await other.untilClosed()).code).toBe(1008);
  });

  test.each([
    ['pings of the protocol', OPCODES.text, '{"type":"ping"}'],
    ['ends of unknown operations', OPCODES.text, '{"type":"complete","id":"none"}'],
    ['WebSocket pings', OPCODES.ping, ''],
  ])('is closed if it keeps sending %s', async (_what, opcode, message) => {
    await using app = await startTestApp({}, { refills: false });
    using flood = await initializedSocket(app);
    const frames = Buffer.concat(Array(500).fill(frame(opcode, Buffer.from(message))));
    const raw = flood.stream;
    const send = () => {
      if (flood.closed === null && !raw.destroyed) raw.write(frames, () => setImmediate(send));
    };
    send();
    expect(await flood.untilClosed()).toEqual({ code: 1013, reason: 'Too many messages' });
    expect(await refusals(app)).toBe(1);
  });
});

test('the bytes of an unfinished body are counted, even if it is pipelined behind another request', async () => {
  await using app = await startTestApp();
  const body = '{"query":"{ __typename }"}';
  const begun = `${HEAD}content-length: 100000\r\n\r\n${' '.repeat(30_000)}`;
  using raw = await openRaw(app.url);
  raw.socket.write(postOf('{ __typename }') + begun);
  await eventually(() => raw.received.startsWith('HTTP/1.1 200'));
  await eventually(async () => expect(await receivedBytes(app)).toBeGreaterThanOrEqual(30_000));
  raw.socket.write(' '.repeat(1_000));
  await eventually(async () => expect(await receivedBytes(app)).toBeGreaterThanOrEqual(31_000));
  expect(await receivedBytes(app)).toBeLessThan(35_000);
  raw.socket.write(body.padStart(69_000));
  await eventually(() => expect(statusesIn(raw).join()).toBe('200,200'));
  expect(await receivedBytes(app)).toBe(0);
});

const MAX_MESSAGES = 20;
/** The bytes of the largest body that the service reads by default. */
const LARGEST_BODY = 262_144;

const startWithFewMessages = () =>
  startTestApp({}, { limits: withoutRefills(limited('messages', MAX_MESSAGES)) });

/** Sends three times as many requests as the limit of messages allows. */
async function flood(app: TestApp): Promise<number[]> {
  const statuses = [];
  for (let sent = 0; sent < 3 * MAX_MESSAGES; sent += 1) {
    statuses.push((await rawRequest(`${app.url}/nothing`)).status);
  }
  return statuses;
}

test('a body that is announced but not sent costs only its head, and a sent body costs its size', async () => {
  await using app = await startWithFewMessages();
  const head = `${HEAD}content-length: ${LARGEST_BODY}\r\n\r\n`;
  const idle = await Promise.all(Array.from({ length: 6 }, () => openRaw(app.url)));
  for (const { socket } of idle) await new Promise((resolve) => socket.write(head, resolve));
  for (let user = 1; user <= 10; user += 1) {
    expect(await app.signIn(`user-${user}@example.com`)).toMatch(/^ey/);
  }
  for (const { socket } of idle) socket.destroy();
  expect(await refusals(app)).toBe(0);
  // Four of the twenty messages are left: there were six heads and ten sign-ins. This body counts as seventeen,
  // because each 16 KiB of it counts as another message.
  expect((await rawPost(`${app.url}/graphql`, ' '.repeat(LARGEST_BODY))).status).toBe(429);
  expect((await rawRequest(`${app.url}/nothing`)).status).toBe(429);
});

test('an address over its message limit can still open sockets with known tokens and send preflights', async () => {
  await using app = await startWithFewMessages();
  const known = await app.signIn('pro@example.com');
  const statuses = await flood(app);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(MAX_MESSAGES);
  using socket = await initializedSocket(app, known);
  await socket.watch('1', '{ __typename }');
  const graphql = `${app.url}/graphql`;
  expect((await rawRequest(graphql, { method: 'OPTIONS' })).status).toBe(204);
  const login =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  const refused = await rawPost(graphql, JSON.stringify({ query: login }));
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.text).errors[0].extensions.sent).toBe(false);
});

const FIVE_MEGABYTES = Buffer.alloc(5 * 1024 * 1024, ' ');

const CHUNKED_HEAD = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

const roomy = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000' });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterAll(() => agent.destroy());

async function post(body: Buffer) {
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(`${roomy.url}/graphql`, { method: 'POST', agent, headers });
  // The client sends the body in pieces, so that the refusal arrives before the last piece.
  const pieceBytes = 65_536;
  for (let start = 0; start < body.length; start += pieceBytes) {
    outgoing.write(body.subarray(start, start + pieceBytes));
  }
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  const chunks: Buffer[] = await response.toArray();
  return { status: response.statusCode, text: String(Buffer.concat(chunks)) };
}

test('a body that is too large gets a complete response, and the connection stays open', async () => {
  for (let i = 0; i < 5; i += 1) {
    const { status, text } = await post(FIVE_MEGABYTES);
    expect(status).toBe(413);
    expect(text).toContain('PAYLOAD_TOO_LARGE');
    // The agent has one socket, so this request uses the same connection.
    const next = await post(Buffer.from('{"query":"{ __typename }"}'));
    expect(next.status).toBe(200);
  }
});

test('a compressed socket message is charged by its unpacked size', async () => {
  const padding = ' '.repeat(200_000);
  await using app = await startWithFewMessages();
  // By its size such a message counts as more than half of the limit, so the second message exceeds the limit.
  const openWithLargeMessage = async () => {
    const raw = await openSocket(app, undefined, { perMessageDeflate: true });
    raw.send(`{"type":"connection_init"}${padding}`);
    return raw;
  };
  using accepted = await openWithLargeMessage();
  await eventually(() => expect(accepted.messages).toHaveLength(1));
  using refused = await openWithLargeMessage();
  expect(await refused.untilClosed()).toEqual({ code: 1013, reason: 'Too many messages' });
});

test('the connection of a body that never ends is closed', async () => {
  using raw = await openRaw(roomy.url);
  raw.socket.write(`${HEAD}content-length: 99999999999\r\n\r\n`);
  await eventually(() => raw.received.startsWith('HTTP/1.1 413'));
  await eventually(() => {
    if (!raw.isClosed) raw.socket.write('x'.repeat(1000));
    return raw.isClosed;
  });
});

test('the service stops reading a pipelined request that waits, even if its body has chunks of one byte', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  const headers = { accept: 'text/event-stream' };
  using raw = await openRaw(app.url);
  raw.socket.write(postOf('subscription { positions { id } }', { token, headers }));
  await eventually(() => expect(raw.received).toContain('event: next'));
  raw.socket.write(CHUNKED_HEAD + '1\r\nx\r\n'.repeat(2_000_000));
  await eventually(async () => expect(await receivedBytes(app)).toBeGreaterThan(30_000));
  // Twenty other requests give the service time to read more.
  for (let times = 0; times < 20; times += 1) await app.query('{ __typename }');
  // The bound is a little more than two reads of the socket, which have at most 65,536 bytes each.
  expect(await receivedBytes(app)).toBeLessThan(140_000);
});

test('a request with too many chunks is cut off, and the bytes received so far are not executed', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const headers = `authorization: Bearer ${token}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const postInChunks = async (pieces: readonly string[]) => {
    const raw = await openRaw(app.url);
    raw.socket.write([HEAD, headers, ...pieces.map(chunk), '0\r\n\r\n'].join(''));
    return raw;
  };
  // The body would still be JSON without some of its spaces, so a part of it could be executed by mistake.
  const body = ['{"query":"{ customerId }"', ...Array(1_100).fill(' '), `${' '.repeat(1_000)}}`];
  using cut = await postInChunks(body);
  await eventually(() => expect(cut.isClosed).toBe(true));
  expect([cut.received, app.sandbox.calls('getCustomerId')]).toEqual(['', 0]);
  using whole = await postInChunks([body.join('')]);
  await eventually(() => expect(whole.received).toContain('"customerId":'));
  expect(app.sandbox.calls('getCustomerId')).toBe(1);
});

test.each([8, 9, 10, 11, 15])(
  'a WebSocket that offers a deflate window of %i bits opens, and is compressed from 11 bits on',
  async (bits) => {
    using raw = await openRaw(roomy.url);
    const offer = `permessage-deflate; server_max_window_bits=${bits}`;
    raw.socket.write(UPGRADE.replace('permessage-deflate', offer));
    await eventually(() => expect(raw.received).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/));
    expect(raw.received.includes('permessage-deflate')).toBe(bits >= 11);
  },
);

test('a body of 200 kB in small segments, as from a slow network, is read', async () => {
  const body = JSON.stringify({ query: '{ __typename }', padding: 'x'.repeat(200_000) });
  const pieces = body.match(/.{1,1400}/gs) as string[];
  const announced = [`${HEAD}content-length: ${body.length}\r\n\r\n`, ...pieces];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  for (const segments of [announced, [CHUNKED_HEAD, ...chunks, '0\r\n\r\n']]) {
    using raw = await openRaw(roomy.url);
    raw.socket.setNoDelay(true);
    for (const segment of segments) {
      await new Promise((resolve) => raw.socket.write(segment, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => expect(raw.received).toContain('"__typename":"Query"'));
  }
});
