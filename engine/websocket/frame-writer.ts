import type { Duplex } from 'node:stream';
import { PackedText, storedBlocks } from '../../lib/packed-text.ts';
import type { EventText } from '../live/delivery.ts';

const FINAL_TEXT = 0x81;
/** RSV1 marks a message as packed (RFC 7692). */
const FINAL_PACKED_TEXT = 0xc1;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const LARGEST_SHORT = 125;
const LARGEST_OF_16_BITS = 65_535;
const CLOSING_BRACE = 0x7d;
const SCRATCH_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);
const END = Buffer.from('}');
// Behind it a packed message ends with an empty block, whose length it leaves out.
const PACKED_END = Buffer.concat([storedBlocks(END), Buffer.alloc(1)]);

/**
 * The memory in which all sockets' frames are put together: nearly always the kernel accepts a frame
 * synchronously, and the buffer is reused for the next one.
 */
export class FrameScratch {
  #bytes = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  /** Large frames have a buffer of their own. */
  take(size: number): Buffer {
    return size <= SCRATCH_BYTES ? this.#bytes.subarray(0, size) : Buffer.allocUnsafeSlow(size);
  }

  /** Gives the frame's buffer away to a write that is pending. */
  leave(frame: Buffer): void {
    if (frame.buffer === this.#bytes.buffer) this.#bytes = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  }
}

/**
 * Writes text messages of one operation to the TCP socket under a WebSocket, each as one frame: an object
 * that begins with `head`, and ends with the given value. `ws` writes header and payload separately,
 * allocates a buffer per socket, and would pack a message for each socket anew. It does not combine with
 * features of `ws` that delay or fragment messages, as its own compression does.
 */
export class FrameWriter {
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #scratch: FrameScratch;

  constructor(socket: Duplex, head: string, scratch: FrameScratch) {
    this.#socket = socket;
    this.#scratch = scratch;
    this.#head = Buffer.from(head);
  }

  /**
   * Calls back when the bytes are flushed, perhaps synchronously, or can never be. Returns the
   * message's length as it is sent. A packed text is for a client that has accepted such messages.
   */
  write(value: EventText, left: () => void): number {
    const socket = this.#socket;
    const length = this.#write(value);
    if (socket.writableLength === 0) left();
    else socket.write(NOTHING, left);
    return length;
  }

  #write(value: EventText): number {
    if (typeof value === 'string') return this.#writeText(value);
    if (!(value instanceof PackedText)) {
      return this.#writeParts(FINAL_TEXT, [this.#head, ...value, END]);
    }
    const parts = [storedBlocks(this.#head), value.segment, PACKED_END];
    return this.#writeParts(FINAL_PACKED_TEXT, parts);
  }

  #writeText(value: string): number {
    const head = this.#head;
    const length = head.length + Buffer.byteLength(value) + 1;
    const start = headerBytes(length);
    const size = start + length;
    const frame = this.#scratch.take(size);
    writeHeader(frame, FINAL_TEXT, length);
    frame.set(head, start);
    frame.write(value, start + head.length);
    frame[size - 1] = CLOSING_BRACE;
    this.#writeFrame(frame);
    return length;
  }

  #writeParts(type: number, parts: readonly Buffer[]): number {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const start = headerBytes(length);
    if (start + length > SCRATCH_BYTES) return this.#writeCorked(type, parts, length);
    const frame = this.#scratch.take(start + length);
    writeHeader(frame, type, length);
    let at = start;
    for (const part of parts) at += part.copy(frame, at);
    this.#writeFrame(frame);
    return length;
  }

  #writeFrame(frame: Buffer): void {
    this.#socket.write(frame);
    // A pending write owns the buffer until the kernel has accepted everything.
    if (this.#socket.writableLength > 0) this.#scratch.leave(frame);
  }

  /** Copying a large value into one frame would take longer than all the rest of the write. */
  #writeCorked(type: number, parts: readonly Buffer[], length: number): number {
    const socket = this.#socket;
    const start = Buffer.allocUnsafe(headerBytes(length));
    writeHeader(start, type, length);
    socket.cork();
    socket.write(start);
    for (const part of parts) socket.write(part);
    socket.uncork();
    return length;
  }
}

function headerBytes(length: number): number {
  if (length <= LARGEST_SHORT) return 2;
  return length <= LARGEST_OF_16_BITS ? 4 : 10;
}

function writeHeader(frame: Buffer, type: number, length: number): void {
  frame[0] = type;
  if (length <= LARGEST_SHORT) {
    frame[1] = length;
  } else if (length <= LARGEST_OF_16_BITS) {
    frame[1] = LENGTH_OF_16_BITS;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_OF_64_BITS;
    frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2);
    frame.writeUInt32BE(length >>> 0, 6);
  }
}
