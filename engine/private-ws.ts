import type { WebSocket } from 'ws';

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
