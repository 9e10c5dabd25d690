import type { Duplex } from 'node:stream';
import { PackedText, storedBlocks } from '../../../lib/packed-text.ts';
import type { EventText } from '../../operation/result-sink.ts';

const FINAL_TEXT = 0x81;
/** RSV1 marks a message as packed (RFC 7692). */
const FINAL_PACKED_TEXT = 0xc1;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const MAX_SHORT = 125;
const MAX_UINT_16 = 65_535;
// Copying a larger value into one frame would take longer than all the rest of the write.
const MAX_COPIED = 16_384;
const NOTHING = Buffer.alloc(0);
const END = Buffer.from('}');
// Behind it a packed message ends with an empty block, whose length it leaves out.
const PACKED_END = Buffer.concat([storedBlocks(END), Buffer.alloc(1)]);

/**
 * Writes text messages of one operation to the TCP socket under a WebSocket, each as one frame: an object
 * that begins with `head`, and ends with the given value. `ws` writes header and payload separately,
 * allocates a buffer per socket, and would pack a message for each socket anew. It does not combine with
 * features of `ws` that delay or fragment messages, as its own compression does.
 */
export class FrameWriter {
  readonly #socket: Duplex;
  /** A text: a small buffer that lives as long as its subscription would keep a whole block of Node's pool alive. */
  readonly #head: string;

  constructor(socket: Duplex, head: string) {
    this.#socket = socket;
    this.#head = head;
  }

  /** Calls back once the bytes are flushed, perhaps at once, or never can be. Returns the length as it is sent. */
  write(value: EventText, left: () => void): number {
    const socket = this.#socket;
    const parts = this.#partsOf(value);
    const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const isLarge = length > MAX_COPIED;
    const frame = Buffer.allocUnsafe(headerBytes(length) + (isLarge ? 0 : length));
    writeHeader(frame, value instanceof PackedText ? FINAL_PACKED_TEXT : FINAL_TEXT, length);
    let at = headerBytes(length);
    if (isLarge) {
      socket.cork();
      socket.write(frame);
      // A text that waits in a socket would count its characters, not its bytes.
      for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part) : part);
      socket.uncork();
    } else {
      for (const part of parts) {
        at += typeof part === 'string' ? frame.write(part, at) : part.copy(frame, at);
      }
      socket.write(frame);
    }
    if (socket.writableLength === 0) left();
    else socket.write(NOTHING, left);
    return length;
  }

  #partsOf(value: EventText): readonly (string | Buffer)[] {
    if (value instanceof PackedText)
      return [storedBlocks(Buffer.from(this.#head)), value.segment, PACKED_END];
    return typeof value === 'string' ? [this.#head, value, END] : [this.#head, ...value, END];
  }
}

function headerBytes(length: number): number {
  if (length <= MAX_SHORT) return 2;
  return length <= MAX_UINT_16 ? 4 : 10;
}

function writeHeader(frame: Buffer, type: number, length: number): void {
  frame[0] = type;
  if (length <= MAX_SHORT) {
    frame[1] = length;
  } else if (length <= MAX_UINT_16) {
    frame[1] = LENGTH_OF_16_BITS;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_OF_64_BITS;
    frame.writeUInt16BE(0, 2);
    frame.writeUIntBE(length, 4, 6);
  }
}
