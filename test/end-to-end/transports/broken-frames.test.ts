import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const MASK = Buffer.from([1, 2, 3, 4]);
const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

interface FrameBits {
  readonly isLast?: boolean;
  readonly rsv?: number;
  readonly isMasked?: boolean;
  readonly announced?: number;
}

function frame(
  opcode: number,
  payload: Buffer,
  { isLast = true, rsv = 0, isMasked = true, announced = payload.length }: FrameBits = {},
): Buffer {
  const length = Buffer.alloc(announced < 126 ? 1 : 9);
  if (announced < 126) length[0] = announced;
  else {
    length[0] = 127;
    length.writeBigUInt64BE(BigInt(announced), 1);
  }
  if (isMasked) length[0] = (length[0] as number) | 0x80;
  const head = Buffer.from([(isLast ? 0x80 : 0) | rsv | opcode]);
  if (!isMasked) return Buffer.concat([head, length, payload]);
  const masked = payload.map((byte, at) => byte ^ (MASK[at % 4] as number));
  return Buffer.concat([head, length, MASK, masked]);
}

const PACKED = 0x40;
const text = (value: string) => Buffer.from(value);
const packed = (value: string) => deflateRawSync(value).subarray(0, -1);
const NO_TEXT = Buffer.from([0xff, 0xfe]);

/** Frames whole and broken, packed and plain: whatever comes behind a broken one must be of no consequence. */
const FRAMES: Readonly<Record<string, Buffer>> = {
  text: frame(OPCODES.text, text('{"type":"ping"}')),
  packedText: frame(OPCODES.text, packed('{"type":"ping"}'), { rsv: PACKED }),
  noText: frame(OPCODES.text, NO_TEXT),
  packedNoText: frame(OPCODES.text, deflateRawSync(NO_TEXT), { rsv: PACKED }),
  notPacked: frame(OPCODES.text, text('xxxx'), { rsv: PACKED }),
  packedTooLarge: frame(OPCODES.text, packed('x'.repeat(300_000)), { rsv: PACKED }),
  tooLarge: frame(OPCODES.text, text('x'), { announced: 300_000 }),
  beyondNumbers: frame(OPCODES.text, text('x'), { announced: Number.MAX_SAFE_INTEGER * 2 }),
  begun: frame(OPCODES.text, text('{"ty'), { isLast: false }),
  packedBegun: frame(OPCODES.text, packed('{"ty'), { isLast: false, rsv: PACKED }),
  continued: frame(OPCODES.continuation, text('pe"')),
  packedContinued: frame(OPCODES.continuation, text('pe"'), { rsv: PACKED }),
  binary: frame(OPCODES.binary, NO_TEXT),
  ping: frame(OPCODES.ping, text('a')),
  longPing: frame(OPCODES.ping, text('x'.repeat(126))),
  partialPing: frame(OPCODES.ping, text('a'), { isLast: false }),
  close: frame(OPCODES.close, Buffer.from([0x03, 0xe8])),
  closeByte: frame(OPCODES.close, Buffer.from([0x03])),
  closeCode: frame(OPCODES.close, Buffer.from([0x03, 0xec])),
  closeNoText: frame(OPCODES.close, Buffer.from([0x03, 0xe8, 0xff])),
  reserved: frame(OPCODES.text, text('a'), { rsv: 0x20 }),
  unknown: frame(3, text('a')),
  unmasked: frame(OPCODES.text, text('{"type":"ping"}'), { isMasked: false }),
};

const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000' });

const UPGRADE = [
  'GET /graphql HTTP/1.1',
  'host: localhost',
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol: graphql-transport-ws',
  'sec-websocket-extensions: permessage-deflate',
  '\r\n',
].join('\r\n');

type Writing = (socket: Socket, frames: readonly Buffer[]) => void;

const WRITINGS: Readonly<Record<string, Writing>> = {
  'in one write': (socket, frames) => void socket.write(Buffer.concat(frames)),
  'frame by frame': (socket, frames) => {
    for (const each of frames) socket.write(each);
  },
  'in three writes': (socket, frames) => {
    const all = Buffer.concat(frames);
    const third = Math.ceil(all.length / 3);
    for (let at = 0; at < all.length; at += third) socket.write(all.subarray(at, at + third));
  },
  'byte by byte': (socket, frames) => {
    const all = Buffer.concat(frames);
    for (let at = 0; at < all.length; at += 1) socket.write(all.subarray(at, at + 1));
  },
};

/** Sends frames on a connection of their own, and its end. Resolves when the server has closed it. */
async function send(
  { url }: TestApp,
  names: readonly string[],
  writing: Writing,
  isWithUpgrade: boolean,
): Promise<void> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  const frames = names.map((name) => FRAMES[name] as Buffer);
  if (isWithUpgrade) writing(socket, [Buffer.from(UPGRADE), ...frames]);
  else {
    socket.write(UPGRADE);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('101 Switching Protocols');
    writing(socket, frames);
  }
  socket.end();
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
}

const NAMES = Object.keys(FRAMES);
const PAIRS = NAMES.flatMap((first) => NAMES.map((second) => [first, second]));
// What ended the process took three: a packed one, whose unpacking lets the others wait, a broken one, and any.
const TRIPLES = PAIRS.flatMap((pair) => ['packedText', 'ping'].map((first) => [first, ...pair]));

// What is thrown on the event loop belongs to no test, but Vitest fails the run for it.
test.each(Object.entries(WRITINGS))('no frames end the process, %s', async (_name, writing) => {
  using innocent = await initializedSocket(app);
  for (const [at, names] of [...PAIRS, ...TRIPLES].entries()) {
    await send(app, names, writing, at % 2 === 0);
  }
  innocent.subscribe('1', '{ __typename }');
  expect((await innocent.until('1', 'next')).payload.data).toEqual({ __typename: 'Query' });
});
