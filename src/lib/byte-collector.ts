interface ByteCollectorOptions {
  readonly maxBytes: number;
  /** The size that was announced: the buffer grows no further, but it is not allocated for a mere announcement. */
  readonly announcedBytes?: number;
  /** The pieces that may come whatever they hold; beyond them each must stand for some bytes. */
  readonly freePieces?: number;
}

type Collected = 'kept' | 'too many bytes' | 'too many pieces';

// A sender of ordinary segments needs one piece for 1,400 bytes, one that writes lines some dozens of bytes.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;
const MIN_BUFFER = 512;
const EMPTY = Buffer.alloc(0);

/** Whether these are more pieces than so many bytes explain: each costs its receiver as much as a large one. */
export function tooManyPieces(pieces: number, bytes: number, freePieces = FREE_PIECES): boolean {
  return pieces > freePieces + bytes / BYTES_PER_PIECE;
}

/**
 * Collects bytes that arrive in pieces into one growing buffer. A list would keep an object, and often a
 * whole read of the socket, for each piece, so that a sender of single bytes multiplies its bytes by hundreds.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  readonly #announcedBytes: number;
  readonly #freePieces: number;
  #buffer: Buffer = EMPTY;
  #length = 0;
  #pieces = 0;

  constructor({ maxBytes, announcedBytes = 0, freePieces = FREE_PIECES }: ByteCollectorOptions) {
    this.#maxBytes = maxBytes;
    this.#announcedBytes = announcedBytes;
    this.#freePieces = freePieces;
  }

  /** A piece that is not kept leaves the collector as it was. */
  add(piece: Buffer): Collected {
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) return 'too many bytes';
    const pieces = this.#pieces + 1;
    if (tooManyPieces(pieces, length, this.#freePieces)) return 'too many pieces';
    this.#pieces = pieces;
    // Most senders need one piece, which is not copied.
    if (this.#length === 0) this.#buffer = piece;
    else this.#append(piece, length);
    this.#length = length;
    return 'kept';
  }

  /** The bytes so far, which leave the collector, with what room is left behind them: nobody keeps them for long. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    this.#pieces = 0;
    return bytes;
  }

  #append(piece: Buffer, length: number): void {
    // The first piece has no room behind it, so that what its owner has there is never overwritten.
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(this.#capacityFor(length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    piece.copy(this.#buffer, this.#length);
  }

  #capacityFor(length: number): number {
    const doubled = Math.max(2 * length, MIN_BUFFER);
    const most = this.#announcedBytes >= length ? this.#announcedBytes : this.#maxBytes;
    return Math.min(doubled, most);
  }
}
