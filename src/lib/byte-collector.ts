const MIN_BUFFER = 512;
const EMPTY = Buffer.alloc(0);

/**
 * Collects bytes that arrive in pieces into one growing buffer. A list would keep an object for each piece, and often a
 * whole read buffer of the socket: a sender of single bytes would use hundreds of times its bytes.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  #buffer: Buffer = EMPTY;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns false, and leaves the collector unchanged, if the piece would exceed the maximum. */
  add(piece: Buffer): boolean {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) return false;
    // Most senders need one piece, which is not copied.
    if (this.#length === 0) this.#buffer = piece;
    else this.#append(piece, length);
    this.#length = length;
    return true;
  }

  /** Empties the collector and returns its bytes. Their buffer may be larger, so do not keep them for long. */
  take(): Buffer {
    const isFull = this.#length === this.#buffer.length;
    const bytes = isFull ? this.#buffer : this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    return bytes;
  }

  #append(piece: Buffer, length: number): void {
    // The first piece belongs to its sender, so it is copied before anything is appended.
    if (length > this.#buffer.length) {
      const capacity = Math.min(Math.max(2 * length, MIN_BUFFER), this.#maxBytes);
      const grown = Buffer.allocUnsafeSlow(capacity);
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    piece.copy(this.#buffer, this.#length);
  }
}
