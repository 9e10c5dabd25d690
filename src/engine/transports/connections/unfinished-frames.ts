import type { WebSocket } from 'ws';

/** The private fields in which the receiver of `ws` keeps a message that has not arrived whole. */
interface Receiver {
  /** Parts of a frame. */
  readonly _buffers?: readonly Buffer[];
  /** Frames of a message, which are already unpacked. */
  readonly _fragments?: readonly Buffer[];
}

/**
 * The memory that a WebSocket's unfinished message takes. The bytes on the wire are a poor measure: a part of ten bytes may
 * belong to a read of 64 kB that stays in memory whole, and a packed frame of 300 bytes unpacks to 256 kB. Zero if a
 * version of `ws` has other fields.
 */
export function unfinishedBytes(socket: WebSocket): number {
  const { _receiver: receiver } = socket as unknown as { readonly _receiver?: Receiver | null };
  const parts = [...(receiver?._buffers ?? []), ...(receiver?._fragments ?? [])];
  if (parts.length === 0) return 0;
  let bytes = 0;
  for (const memory of new Set(parts.map(({ buffer }) => buffer))) bytes += memory.byteLength;
  return bytes;
}
