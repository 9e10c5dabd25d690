const FINAL = 0x80;
const OPCODE = 0x0f;
const MASKED = 0x80;
const LENGTH = 0x7f;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const FIRST_CONTROL_OPCODE = 0x08;
const MASK_BYTES = 4;
/** Estimated, of the objects that `ws` keeps for each fragment and each part of one. */
const PART_BYTES = 256;

/**
 * Follows a WebSocket client's frames, by their heads alone, before `ws` collects them, which says neither how much it
 * has of a message nor since when. What is malformed `ws` finds.
 */
export class FrameMeter {
  /** The bytes that `ws` keeps of the message that has not arrived whole. */
  unfinishedBytes = 0;
  /** The frames that have arrived whole. */
  frames = 0;
  /** The messages that have arrived whole, control frames not among them. */
  messages = 0;
  #headBytes = 0;
  #headSize = 2;
  #first = 0;
  #lengthBytes = 0;
  #payloadLeft = 0;

  /** Returns where the frame at `start` ends, or the end of the bytes. */
  next(bytes: Buffer, start: number): number {
    let at = start;
    while (this.#headBytes < this.#headSize && at < bytes.length) {
      this.#readHead(bytes[at] as number);
      at += 1;
    }
    if (this.#headBytes < this.#headSize) return this.#stopped(start, at);
    const part = Math.min(this.#payloadLeft, bytes.length - at);
    this.#payloadLeft -= part;
    at += part;
    return this.#payloadLeft > 0 ? this.#stopped(start, at) : this.#ended(start, at);
  }

  #stopped(start: number, end: number): number {
    if (!this.#isControl) this.unfinishedBytes += end - start + PART_BYTES;
    return end;
  }

  #ended(start: number, end: number): number {
    this.frames += 1;
    this.#headBytes = 0;
    this.#headSize = 2;
    if (this.#isControl) return end;
    if ((this.#first & FINAL) === 0) return this.#stopped(start, end);
    this.messages += 1;
    this.unfinishedBytes = 0;
    return end;
  }

  /** Control frames may come in between the fragments of a message. */
  get #isControl(): boolean {
    return (this.#first & OPCODE) >= FIRST_CONTROL_OPCODE;
  }

  #readHead(byte: number): void {
    this.#headBytes += 1;
    if (this.#headBytes === 1) {
      this.#first = byte;
    } else if (this.#headBytes === 2) {
      const length = byte & LENGTH;
      this.#lengthBytes = length === LENGTH_OF_16_BITS ? 2 : length === LENGTH_OF_64_BITS ? 8 : 0;
      this.#payloadLeft = this.#lengthBytes === 0 ? length : 0;
      this.#headSize = 2 + this.#lengthBytes + ((byte & MASKED) === 0 ? 0 : MASK_BYTES);
    } else if (this.#headBytes <= 2 + this.#lengthBytes) {
      this.#payloadLeft = this.#payloadLeft * 256 + byte;
    }
  }
}
