import type { Duplex } from 'node:stream';
import type { JsonText } from '../../engine/json-text.ts';

const FINAL_TEXT = 0x81;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const LARGEST_SHORT = 125;
const LARGEST_OF_16_BITS = 65_535;
const CLOSING_BRACE = 0x7d;
const SCRATCH_BYTES = 16_384;
const NOTHING = Buffer.alloc(0);
const END = Buffer.from('}');

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
 * Writes text messages of one operation to the TCP socket under a WebSocket, each as one frame in one
 * write: an object that begins with `head`, and ends with the given value. `ws` writes header and
 * payload separately, and allocates a buffer per socket. It does not combine with features of `ws`
 * that delay or fragment messages, as compression does.
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
   * message's length.
   */
  write(value: JsonText, left: () => void): number {
    const socket = this.#socket;
    const length = typeof value === 'string' ? this.#writeText(value) : this.#writeChunks(value);
    if (socket.writableLength === 0) left();
    else socket.write(NOTHING, left);
    return length;
  }

  #writeText(value: string): number {
    const head = this.#head;
    const length = head.length + Buffer.byteLength(value) + 1;
    const start = headerBytes(length);
    const size = start + length;
    const frame = this.#scratch.take(size);
    writeHeader(frame, length);
    frame.set(head, start);
    frame.write(value, start + head.length);
    frame[size - 1] = CLOSING_BRACE;
    this.#socket.write(frame);
    // A pending write owns the buffer until the kernel has accepted everything.
    if (this.#socket.writableLength > 0) this.#scratch.leave(frame);
    return length;
  }

  /** Copying a large value into one frame would take longer than all the rest of the write. */
  #writeChunks(chunks: readonly Buffer[]): number {
    const socket = this.#socket;
    const head = this.#head;
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, head.length + 1);
    const start = Buffer.allocUnsafe(headerBytes(length));
    writeHeader(start, length);
    socket.cork();
    socket.write(start);
    socket.write(head);
    for (const chunk of chunks) socket.write(chunk);
    socket.write(END);
    socket.uncork();
    return length;
  }
}

function headerBytes(length: number): number {
  if (length <= LARGEST_SHORT) return 2;
  return length <= LARGEST_OF_16_BITS ? 4 : 10;
}

function writeHeader(frame: Buffer, length: number): void {
  frame[0] = FINAL_TEXT;
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
