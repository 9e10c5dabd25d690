import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { LostField } from '../../../lib/private-node.ts';

// All that is used of `ws` beside its public API, which offers none of it; engine/README.md has what rests on each.

export type Unpacked = (error: Error | null, bytes?: Buffer) => void;

/** The part of the extension in `ws` that its receiver and the end of a socket call. */
export interface MessageUnpacker {
  decompress(data: Buffer, isLast: boolean, done: Unpacked): void;
  cleanup(): void;
}

interface FrameReceiver {
  readonly _errored?: boolean;
  _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void;
}

interface PrivateWebSocket {
  readonly _extensions?: Record<string, MessageUnpacker | undefined>;
  readonly _receiver?: FrameReceiver;
}

const PACKED_MESSAGES = 'permessage-deflate';

const privateOf = (socket: WebSocket) => socket as unknown as PrivateWebSocket;

/** Replaces what unpacks a socket's messages, where they may be packed; without the field `ws` does it. */
export function replaceUnpacker(
  socket: WebSocket,
  replacement: (own: MessageUnpacker) => MessageUnpacker,
): void {
  const { _extensions: extensions } = privateOf(socket);
  const own = extensions?.[PACKED_MESSAGES];
  if (extensions && own) extensions[PACKED_MESSAGES] = replacement(own);
}

/**
 * Stops reading a socket's frames at the first broken one. The receiver of `ws` goes on with the frames that were
 * written before its error is told of, in the middle of the broken one, and what it throws there ends the process.
 */
export function stopAtBrokenFrame(socket: WebSocket): void {
  const { _receiver: receiver } = privateOf(socket);
  if (receiver?._write) receiver._write = writeUnlessBroken;
}

function writeUnlessBroken(this: FrameReceiver, ...written: Parameters<FrameReceiver['_write']>) {
  if (this._errored === true) written[2]();
  else (Object.getPrototypeOf(this) as FrameReceiver)._write.apply(this, written);
}

/** The fields that this version of `ws` lacks. */
export function lostOfWs(): readonly LostField[] {
  const socket = openedSocket();
  const { _extensions: extensions, _receiver: receiver } = privateOf(socket);
  socket.terminate();
  const unpacker = extensions?.[PACKED_MESSAGES];
  const lost: LostField[] = [];
  if (!unpacker?.decompress || !unpacker.cleanup) {
    lost.push({ field: '_extensions of ws', off: 'packed messages take ten times the CPU' });
  }
  if (!receiver?._write || typeof receiver._errored !== 'boolean') {
    lost.push({ field: '_receiver of ws', off: 'broken frames may end the process' });
  }
  return lost;
}

/** A socket to nobody, which accepts packed messages. */
function openedSocket(): WebSocket {
  const stream = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() });
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-version': '13',
    'sec-websocket-extensions': PACKED_MESSAGES,
  };
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  let opened: WebSocket | undefined;
  const request = Object.assign(new IncomingMessage(stream as Socket), { method: 'GET', headers });
  server.handleUpgrade(request, stream, Buffer.alloc(0), (socket) => {
    opened = socket;
  });
  return opened as WebSocket;
}
