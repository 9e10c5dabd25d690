interface ByteCollectorOptions {
  readonly maxBytes: number;
  /** The announced size. The buffer never grows beyond it, and is not allocated before bytes arrive. */
  readonly announcedBytes?: number;
  /** This many pieces may be of any size; further pieces must have a minimum average size. */
  readonly freePieces?: number;
}

type Collected = 'kept' | 'too many bytes' | 'too many pieces';

// An ordinary segment has 1,400 bytes; a sender that writes single lines sends a few dozen bytes at a time.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;
const MIN_BUFFER = 512;
const EMPTY = Buffer.alloc(0);

/** Whether the pieces are too small on average: a small piece costs its receiver as much as a large one. */
export function tooManyPieces(pieces: number, bytes: number, freePieces = FREE_PIECES): boolean {
  return pieces > freePieces + bytes / BYTES_PER_PIECE;
}

/**
 * Collects bytes that arrive in pieces into one growing buffer. A list would keep an object for each piece, and often a
 * whole read buffer of the socket: a sender of single bytes would use hundreds of times its bytes.
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

  /** A rejected piece leaves the collector unchanged. */
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

  /** Empties the collector and returns its bytes. Their buffer may be larger, so do not keep them for long. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = EMPTY;
    this.#length = 0;
    this.#pieces = 0;
    return bytes;
  }

  #append(piece: Buffer, length: number): void {
    // The first piece belongs to its sender, so it is copied before anything is appended.
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
