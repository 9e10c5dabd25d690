import { deflateRawSync } from 'node:zlib';

const MASK = Buffer.from([1, 2, 3, 4]);
export const OPCODES = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

interface FrameBits {
  readonly isLast?: boolean;
  readonly rsv?: number;
  readonly isMasked?: boolean;
  /** The length in its head. */
  readonly announced?: number;
}

/** One frame of a client, valid or not. */
export function frame(
  opcode: number,
  payload: Buffer,
  { isLast = true, rsv = 0, isMasked = true, announced = payload.length }: FrameBits = {},
): Buffer {
  // 127 in the first byte means that the length is in the next eight bytes.
  const length = Buffer.alloc(announced < 126 ? 1 : 9);
  if (announced < 126) length[0] = announced;
  else {
    length[0] = 127;
    length.writeBigUInt64BE(BigInt(announced), 1);
  }
  if (isMasked) length[0] = (length[0] as number) | 0x80;
  const head = Buffer.from([(isLast ? 0x80 : 0) | rsv | opcode]);
  if (!isMasked) return Buffer.concat([head, length, payload]);
  const masked = payload.map((byte, index) => byte ^ (MASK[index % 4] as number));
  return Buffer.concat([head, length, MASK, masked]);
}

/** The bit of a frame with a compressed payload. */
export const PACKED = 0x40;
const text = (value: string) => Buffer.from(value);
/** The compressed payload of a text. */
export const packed = (value: string) => deflateRawSync(value).subarray(0, -1);
const INVALID_UTF8 = Buffer.from([0xff, 0xfe]);

/** Frames whole and broken, compressed and plain. The bytes after a broken frame must have no effect. */
export const FRAMES: Readonly<Record<string, Buffer>> = {
  text: frame(OPCODES.text, text('{"type":"ping"}')),
  packedText: frame(OPCODES.text, packed('{"type":"ping"}'), { rsv: PACKED }),
  noText: frame(OPCODES.text, INVALID_UTF8),
  packedNoText: frame(OPCODES.text, deflateRawSync(INVALID_UTF8), { rsv: PACKED }),
  notPacked: frame(OPCODES.text, text('xxxx'), { rsv: PACKED }),
  packedTooLarge: frame(OPCODES.text, packed('x'.repeat(300_000)), { rsv: PACKED }),
  tooLarge: frame(OPCODES.text, text('x'), { announced: 300_000 }),
  beyondNumbers: frame(OPCODES.text, text('x'), { announced: Number.MAX_SAFE_INTEGER * 2 }),
  begun: frame(OPCODES.text, text('{"ty'), { isLast: false }),
  packedBegun: frame(OPCODES.text, packed('{"ty'), { isLast: false, rsv: PACKED }),
  continued: frame(OPCODES.continuation, text('pe"')),
  packedContinued: frame(OPCODES.continuation, text('pe"'), { rsv: PACKED }),
  binary: frame(OPCODES.binary, INVALID_UTF8),
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

/** A browser's handshake, which offers compression. */
export const UPGRADE = [
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
