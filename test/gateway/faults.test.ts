import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { GatewayClient } from '../../src/gateway/client.ts';
import { ACKNOWLEDGED } from '../../src/gateway/operations/acknowledged.ts';
import { errorBody } from '../../src/gateway/operations/conventions.ts';
import { OPEN_POSITIONS } from '../../src/gateway/operations/get-open-positions.ts';
import { toToken } from '../../src/lib/limits/request-caller.ts';
import { OPERATION_CASES } from '../operations/cases.ts';
import { accepted } from '../support/ask-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type Script, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, type ClientSettings, openClient, wordFor } from './open-client.ts';

/** The deadlines of calls that have to time out. */
const HASTY = { gatewayTimeoutMs: 400, orderTimeoutMs: 400 };
/** The largest answer that these tests' client accepts. */
const MAX_BYTES = 1_000_000;

/** A successful answer to a read, a small write and an order. */
const GOOD = {
  ...OPEN_POSITIONS.toWire({ positions: [] }),
  ...ACKNOWLEDGED.toWire({ success: true }),
  ...accepted(),
};
const whole = JSON.stringify(GOOD);

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The outcomes of a read, a small write and an order. */
type Words = readonly [read: string, write: string, order: string];

const SUCCESS: Words = ['answer', 'acknowledged', 'accepted'];
const NEVER_SENT: Words = ['unavailable', 'unavailable', 'unavailable'];
const LOST: Words = ['unavailable', 'unknown', 'unknown'];
const LATE: Words = ['timeout', 'unknown', 'unknown'];
const NONSENSE: Words = ['contract', 'unknown', 'unknown'];

const raw = (text: string | Buffer) => (socket: Socket) => void socket.write(text);
const closing = (text: string | Buffer) => (socket: Socket) => void socket.end(text);
const resetting = (text: string | Buffer) => (socket: Socket) =>
  void socket.write(text, () => socket.resetAndDestroy());

/** Faults after the gateway has received the request, grouped by the outcomes that they lead to. */
const FAULTS: readonly (readonly [Words, Readonly<Record<string, Script>>])[] = [
  [
    SUCCESS,
    {
      'nothing wrong': raw(answer(200, GOOD)),
      'informational answers before the answer': raw(
        `HTTP/1.1 102\r\na: b\r\n\r\nHTTP/1.1 103 Hints\r\nage: 100\r\n\r\n${answer(200, GOOD)}`,
      ),
      'the last byte that fits': raw(
        answer(200, `${whole}${' '.repeat(MAX_BYTES - whole.length)}`),
      ),
      'an age of zero': raw(answer(200, GOOD, { age: '0' })),
      'a known encoding that was not requested': raw(packed(gzipSync(whole))),
    },
  ],
  [
    LOST,
    {
      'an unrequested 100 before the answer': raw(CONTINUE + answer(200, GOOD)),
      'a reset instead of an answer': (socket) => socket.resetAndDestroy(),
      'a hang-up instead of an answer': (socket) => socket.end(),
      'a reset within the head': resetting('HTTP/1.1 200 OK\r\nContent-Ty'),
      'a reset within the body': resetting(answer(200, GOOD).subarray(0, -5)),
      'a hang-up within the body': closing(answer(200, GOOD).subarray(0, -5)),
      'a hang-up within a chunk': closing(
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"succ',
      ),
      'a hang-up before the last chunk on a closing connection': closing(
        `HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${whole.length.toString(16)}\r\n${whole}\r\n`,
      ),
      'an upgrade': raw(
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      ),
      'two headers for the length': raw(
        `HTTP/1.1 200 OK\r\ncontent-length: ${whole.length}\r\ntransfer-encoding: chunked\r\n\r\n${whole}`,
      ),
      'a 503 in HTML': raw(answer(503, '<h1>', { 'content-type': 'text/html' })),
      'a 500 that reports success': raw(answer(500, GOOD)),
      'an unknown status': raw(answer(799, GOOD)),
    },
  ],
  [
    LATE,
    {
      silence: () => {},
      'early hints without end': (socket) => repeat(socket, 'HTTP/1.1 103 Hi\r\na: b\r\n\r\n'),
      'half a body and silence': raw(answer(200, GOOD).subarray(0, -5)),
      'one byte at a time, slowly': (socket) => drip(socket, answer(200, GOOD), 50),
    },
  ],
  [
    NONSENSE,
    {
      'half of a JSON text, complete by its length': raw(answer(200, whole.slice(0, -5))),
      'no content': raw('HTTP/1.1 204 No Content\r\n\r\n'),
      'a page of HTML': raw(answer(200, '<h1>Hello</h1>', { 'content-type': 'text/html' })),
      garbage: raw(answer(200, Buffer.from([0, 255, 123, 34, 200]))),
      'two JSON values': raw(answer(200, whole + whole)),
      'keys of __proto__': raw(answer(200, `{"__proto__":${whole}}`)),
      'lists 100,000 deep': raw(answer(200, `${'['.repeat(1e5)}${']'.repeat(1e5)}`)),
      'an answer that is not HTTP': raw('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
      'a length that is not a number': raw(`HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n${whole}`),
      'a head without end': (socket) =>
        repeat(socket, `a: ${'b'.repeat(1_000)}\r\n`, 'HTTP/1.1 200 OK\r\n'),
      'one byte too many': raw(answer(200, `${whole}${' '.repeat(MAX_BYTES + 1 - whole.length)}`)),
      'a stream without end': (socket) =>
        repeat(socket, 'a'.repeat(65_536), 'HTTP/1.1 200 OK\r\n\r\n'),
      'half of a gzip stream': raw(packed(gzipSync(whole).subarray(0, -12))),
      'plain text declared as gzip': raw(packed(Buffer.from(whole))),
      'an unknown content encoding': raw(answer(200, GOOD, { 'content-encoding': 'zstd' })),
      'a doubly encoded body': raw(packed(gzipSync(gzipSync(whole)), 'gzip, gzip')),
    },
  ],
  [
    // An `age` above zero means that the answer came from a cache. A read refuses such an answer, because it may be another
    // user's. A write accepts it, because an order's outcome must not be lost.
    ['contract', 'acknowledged', 'accepted'],
    { 'an answer from a cache': raw(answer(200, GOOD, { age: '12' })) },
  ],
  [
    ['refused', 'rejected', 'rejected'],
    {
      'a 404 with a JSON body that names an error': raw(
        answer(404, errorBody('details', { error: 'NOT_FOUND' })),
      ),
    },
  ],
];

const CASES = FAULTS.flatMap(([words, scripts]) =>
  Object.entries(scripts).map(([name, script]) => [name, script, words] as const),
);

test.each(CASES)('each call is sent once and ends as expected: %s', async (_, script, words) => {
  const mustTimeOut = words === LATE;
  let isFaulty = !mustTimeOut;
  await using gateway = await startScriptedGateway((socket, request) => {
    const reply = isFaulty ? script : raw(answer(200, GOOD));
    reply(socket, request);
  });
  await using open = openSmallClient(gateway.url);
  let { client } = open;
  if (mustTimeOut) {
    // These calls open the connections, so that the next calls are sent before their short deadline.
    expect(await allThree(client)).toEqual(SUCCESS);
    // The client with the short deadline uses the same connections, which `open` closes.
    client = openSmallClient(gateway.url, { pools: open.pools, ...HASTY }).client;
    isFaulty = true;
  }
  const before = gateway.requests.length;
  expect(await allThree(client)).toEqual(words);
  // Each call was sent once.
  const methods = gateway.requests.slice(before).map(({ method }) => method);
  expect(methods.sort()).toEqual(['GET', 'POST', 'PUT']);
});

test('an answer that unpacks to half a gigabyte is refused in bounded memory', async () => {
  // Gzip members may be concatenated, so half a gigabyte of blanks costs half a megabyte to send.
  const blanks = gzipSync(Buffer.alloc(MAX_BYTES, ' '));
  const bomb = packed(Buffer.concat(Array(500).fill(blanks)));
  await using gateway = await startScriptedGateway(raw(bomb));
  await using open = openSmallClient(gateway.url);
  const usedBytes = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = usedBytes();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, usedBytes());
  }, 5);
  expect(await allThree(open.client)).toEqual(NONSENSE);
  clearInterval(timer);
  // The gateway's memory is included: both run in this process.
  expect(most - before).toBeLessThan(200 * MAX_BYTES);
});

describe('calls whose head was not written to a socket count as never sent:', () => {
  test('a host without an address', async () => {
    await using open = openSmallClient('http://gateway.invalid', HASTY);
    expect(await allThree(open.client)).toEqual(NEVER_SENT);
  });

  test.each([
    ['is not supported', closing('HTTP/1.1 400 Bad Request\r\n\r\n'), {}],
    ['is cut off by a reset', (socket: Socket) => void socket.resetAndDestroy(), {}],
    ['never gets an answer', () => {}, HASTY],
  ])('a handshake that %s', async (_, answer, settings) => {
    const received: Buffer[] = [];
    await using gateway = await startScriptedGateway(() => {}, {
      onConnection: (socket) =>
        socket.once('data', (chunk: Buffer) => {
          received.push(chunk);
          answer(socket);
        }),
    });
    await using open = openSmallClient(gateway.url.replace('http:', 'https:'), settings);
    expect(await allThree(open.client)).toEqual(NEVER_SENT);
    // Only records of the TLS handshake, which begin with 0x16, were received.
    await eventually(() => received.length > 0);
    expect(received.every((chunk) => chunk[0] === 0x16)).toBe(true);
    expect(gateway.requests).toEqual([]);
  });

  test('an invalid header', async () => {
    await using gateway = await startScriptedGateway(raw(answer(200, GOOD)));
    await using open = openSmallClient(gateway.url);
    const forger = { token: toToken('x\r\nHost: elsewhere') };
    expect(await allThree(open.client, forger)).toEqual(NEVER_SENT);
    expect(gateway.requests).toEqual([]);
  });
});

function openSmallClient(url: string, settings: ClientSettings = {}) {
  return openClient(url, { gatewayMaxBytes: MAX_BYTES, ...settings });
}

/** Makes a read, a small write and an order, and returns their outcomes. */
function allThree(client: GatewayClient, caller = anyCaller) {
  return Promise.all([
    wordFor(OPERATION_CASES.getOpenPositions.call(client, caller)),
    wordFor(OPERATION_CASES.setValue.call(client, caller)),
    wordFor(OPERATION_CASES.openPosition.call(client, caller)),
  ]);
}

function packed(bytes: Buffer, encoding = 'gzip'): Buffer {
  return answer(200, bytes, { 'content-encoding': encoding });
}

/** Writes the bytes one by one. */
function drip(socket: Socket, bytes: Buffer, everyMs: number): void {
  let next = 0;
  const timer = setInterval(() => {
    socket.write(bytes.subarray(next, next + 1));
    next += 1;
  }, everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes the text again and again, as fast as the client reads, and yields to other tasks. */
function repeat(socket: Socket, text: string, first = ''): void {
  const more = () => {
    if (socket.destroyed) return;
    if (socket.write(text)) setImmediate(more);
    else socket.once('drain', more);
  };
  socket.write(first);
  more();
}
