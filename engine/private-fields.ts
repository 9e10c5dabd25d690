import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

// All that the server uses of Node and ws beside their public API, which offers none of it. Where a version lacks a
// field, nothing breaks: each function says what is lost. test/engine/private-fields.test.ts tells of a lost field.

interface StreamHandle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
}

/**
 * The bytes that the kernel has accepted; Node's own socket timeout reads the same counters. Without them it is
 * 0, and a large write is no progress until its last byte.
 */
export function acceptedBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: StreamHandle | null };
  const { bytesWritten, writeQueueSize } = handle ?? {};
  if (bytesWritten === undefined || writeQueueSize === undefined) return 0;
  return bytesWritten - writeQueueSize;
}

/** Whether the HTTP server waits for its answers to be read; without the field it is never taken to wait. */
export function isPausedByNode(socket: Socket): boolean {
  return (socket as unknown as { readonly _paused?: boolean })._paused === true;
}

export type Unpacked = (error: Error | null, bytes?: Buffer) => void;

/** The part of the extension in `ws` that its receiver and the end of a socket call. */
export interface MessageUnpacker {
  decompress(data: Buffer, isLast: boolean, done: Unpacked): void;
  cleanup(): void;
}

const PACKED_MESSAGES = 'permessage-deflate';

/** Replaces what unpacks a socket's messages, where they may be packed; without the field `ws` does it. */
export function replaceUnpacker(
  socket: WebSocket,
  replacement: (own: MessageUnpacker) => MessageUnpacker,
): void {
  const { _extensions: extensions } = socket as unknown as {
    readonly _extensions?: Record<string, MessageUnpacker | undefined>;
  };
  const own = extensions?.[PACKED_MESSAGES];
  if (extensions && own) extensions[PACKED_MESSAGES] = replacement(own);
}

interface FrameReceiver {
  readonly _errored?: boolean;
  _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void;
}

/**
 * Stops reading a socket's frames at the first broken one. The receiver of `ws` goes on with the frames that were
 * written before its error is told of, in the middle of the broken one, and what it throws there ends the process.
 */
export function stopAtBrokenFrame(socket: WebSocket): void {
  const { _receiver: receiver } = socket as unknown as { readonly _receiver?: FrameReceiver };
  if (receiver?._write) receiver._write = writeUnlessBroken;
}

function writeUnlessBroken(this: FrameReceiver, ...written: Parameters<FrameReceiver['_write']>) {
  if (this._errored === true) written[2]();
  else (Object.getPrototypeOf(this) as FrameReceiver)._write.apply(this, written);
}
