import { brotliCompressSync } from 'node:zlib';
import { FRAMES } from '../../../test/support/websocket-frames.ts';

/** What one sender writes, on as many connections as it likes: nothing of it waits for an answer. */
export interface Sender {
  readonly transport: 'websocket' | 'http';
  readonly connections: number;
  /** Written once on each connection, behind the handshake of a WebSocket. */
  readonly first: () => Buffer;
  /** Written over and over; nothing more where it is empty. */
  readonly repeated: () => Buffer;
  /** That each open so many connections, where one may not have as many files; 1 where it is left out. */
  readonly processes?: number;
  /** Between two writes of what is repeated, which is then made anew for each. */
  readonly everyMs?: number;
  /** How long each connection stays: another one follows. */
  readonly staysMs?: number;
  /** The pause before another connection follows one that is closed. */
  readonly returnsAfterMs?: number;
  /** How many addresses they come from. */
  readonly addresses?: number;
}

interface Frame {
  readonly opcode?: number;
  readonly isLast?: boolean;
  readonly text?: string;
  /** Bytes that its head announces beyond those that come. */
  readonly missing?: number;
}

const CONTINUATION = 0;
const TEXT = 1;
const PING = 9;
const MASK = Buffer.alloc(4);
const INIT = frame({ text: '{"type":"connection_init"}' });
const JSON_HEAD = 'POST /graphql HTTP/1.1\nhost: a\ncontent-type: application/json';
const nothing = () => Buffer.alloc(0);

/** What once stopped the service for everybody. */
export const KNOWN_SENDERS: Readonly<Record<string, Sender>> = {
  '650 sockets, one message of 16,000 fragments each': {
    transport: 'websocket',
    connections: 650,
    first: () => {
      const begin = frame({ isLast: false, text: ' ' });
      const more = frame({ opcode: CONTINUATION, isLast: false, text: ' ' });
      return Buffer.concat([INIT, begin, times(15_999, more)]);
    },
    repeated: nothing,
  },
  '600 sockets, a message of 250 kB unfinished': {
    transport: 'websocket',
    connections: 600,
    first: () => Buffer.concat([INIT, frame({ text: ' '.repeat(250_000), missing: 10_000 })]),
    repeated: nothing,
  },
  '30 connections, bodies of 262,000 chunks of a byte': {
    transport: 'http',
    connections: 30,
    first: nothing,
    repeated: () => {
      const head = request(`${JSON_HEAD}\ntransfer-encoding: chunked`);
      return Buffer.concat([head, times(262_000, Buffer.from('1\r\n \r\n')), LAST_CHUNK]);
    },
  },
  '8 sockets, protocol pings, pongs and unknown completes': {
    transport: 'websocket',
    connections: 8,
    first: () => INIT,
    repeated: () => {
      const messages = ['{"type":"ping"}', '{"type":"pong"}', '{"type":"complete","id":"none"}'];
      return Buffer.concat(messages.map((text) => times(100, frame({ text }))));
    },
  },
  '8 sockets, WebSocket pings': {
    transport: 'websocket',
    connections: 8,
    first: () => INIT,
    repeated: () => times(1_000, frame({ opcode: PING })),
  },
  '8 connections, pipelined requests that are refused': {
    transport: 'http',
    connections: 8,
    first: nothing,
    repeated: () => {
      const refused = ['GET /nothing HTTP/1.1\nhost: a', 'OPTIONS /graphql HTTP/1.1\nhost: a'];
      const all = [...refused, `${JSON_HEAD}\ncontent-length: 2\n\n{}`];
      return Buffer.concat(all.map((lines) => times(50, request(lines))));
    },
  },
  'a packed message and a broken frame in one packet': {
    transport: 'websocket',
    connections: 1,
    first: () =>
      Buffer.concat(['packedText', 'noText', 'text'].map((name) => FRAMES[name] ?? MASK)),
    repeated: nothing,
  },
  '10 a second, 71 bytes that unpack to 262 kB of numbers': {
    transport: 'http',
    connections: 1,
    first: nothing,
    everyMs: 100,
    repeated: () =>
      packedPost(`{"query":"{__typename}","variables":{"a":[1e0${',1'.repeat(131_000)}]}}`),
  },
  '60 a second, new documents of 3,990 unknown fields, from three addresses': {
    transport: 'http',
    connections: 3,
    addresses: 3,
    first: nothing,
    everyMs: 50,
    repeated: () => {
      documents += 1;
      const fields = Array.from({ length: 3_990 }, (_, at) => `a${documents}x${at}`);
      return packedPost(JSON.stringify({ query: `{${fields.join(' ')}}` }));
    },
  },
  '21,000 idle connections of 20 addresses': {
    transport: 'http',
    processes: 3,
    connections: 7_000,
    returnsAfterMs: 1_000,
    addresses: 20,
    first: nothing,
    repeated: nothing,
  },
  '1,500 sockets, 4.9 refused operations a second each': {
    transport: 'websocket',
    connections: 1_500,
    first: () => INIT,
    everyMs: 204,
    repeated: () => frame({ text: '{"id":"1","type":"subscribe","payload":{"query":"{ none }"}}' }),
  },
  '130 a second, heads whose 262,144 bytes never come': {
    transport: 'http',
    connections: 8,
    first: () => request(`${JSON_HEAD}\ncontent-length: 262144`),
    staysMs: 50,
    repeated: nothing,
  },
};

let documents = 0;

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

function request(lines: string): Buffer {
  return Buffer.from(`${lines.replaceAll('\n', '\r\n')}\r\n\r\n`);
}

function packedPost(text: string): Buffer {
  const body = brotliCompressSync(text);
  const head = `${JSON_HEAD}\ncontent-encoding: br\ncontent-length: ${body.length}`;
  return Buffer.concat([request(head), body]);
}

function frame({ opcode = TEXT, isLast = true, text = '', missing = 0 }: Frame): Buffer {
  const payload = Buffer.from(text);
  const length = payload.length + missing;
  const long = length > 125 ? Buffer.alloc(length > 65_535 ? 8 : 2) : Buffer.alloc(0);
  if (long.length === 2) long.writeUInt16BE(length);
  if (long.length === 8) long.writeUInt32BE(length, 4);
  const code = long.length === 0 ? length : long.length === 2 ? 126 : 127;
  const head = Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | code]);
  return Buffer.concat([head, long, MASK, payload]);
}

function times(count: number, bytes: Buffer): Buffer {
  return Buffer.alloc(count * bytes.length, bytes);
}
