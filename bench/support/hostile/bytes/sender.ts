/** What one sender writes, on as many connections as it likes: nothing of it waits for an answer. */
export interface Sender {
  readonly transport: 'websocket' | 'http';
  readonly connections: number;
  /** Written once on each connection, behind the handshake of a WebSocket. */
  readonly first: readonly Part[];
  /** Written over and over; nothing more where it is empty. */
  readonly repeated: readonly Part[];
  readonly writeBytes: number;
  /** The time between two writes of a connection. */
  readonly pauseMs: number;
  /** Whether it opens another connection for one that is closed. */
  readonly returns: boolean;
}

export type Part =
  | {
      readonly kind: 'frame';
      readonly opcode: number;
      readonly isLast: boolean;
      readonly text: string;
      readonly padding: number;
      /** Bytes that its head announces beyond those that come. */
      readonly missing: number;
      readonly times: number;
    }
  | { readonly kind: 'request'; readonly lines: string; readonly times: number }
  | { readonly kind: 'chunk'; readonly bytes: number; readonly times: number };

const CRLF = '\r\n';
const MASK = Buffer.alloc(4);

export function bytesOf(parts: readonly Part[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => Array<Buffer>(part.times).fill(oneOf(part))));
}

function oneOf(part: Part): Buffer {
  switch (part.kind) {
    case 'request':
      return Buffer.from(`${part.lines.replaceAll('\n', CRLF)}${CRLF}${CRLF}`);
    case 'chunk':
      return Buffer.from(`${part.bytes.toString(16)}${CRLF}${' '.repeat(part.bytes)}${CRLF}`);
    case 'frame':
      return frame(part);
  }
}

function frame({ opcode, isLast, text, padding, missing }: Part & { kind: 'frame' }): Buffer {
  const payload = Buffer.from(text + ' '.repeat(padding));
  const length = payload.length + missing;
  const long = length > 125 ? Buffer.alloc(length > 65_535 ? 8 : 2) : Buffer.alloc(0);
  if (long.length === 2) long.writeUInt16BE(length);
  if (long.length === 8) long.writeUInt32BE(length, 4);
  const code = long.length === 0 ? length : long.length === 2 ? 126 : 127;
  const head = Buffer.from([(isLast ? 0x80 : 0) | opcode, 0x80 | code]);
  return Buffer.concat([head, long, MASK, payload]);
}
