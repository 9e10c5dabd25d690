import { crc32 } from 'node:zlib';
import { isChunks } from './pack.ts';
import { type PackedText, storedBlocks } from './packed-text.ts';

// A gzip member's head (RFC 1952) without time, name or system.
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
const TRAILER_BYTES = 8;

/**
 * One gzip stream of texts that were packed before, for any number of streams: it has no compressor, only
 * the checksum that its end has to state. Several gzip members would need none, but browsers read the first alone.
 */
export class GzipSegments {
  #crc = 0;
  #length = 0;

  begin(): Buffer {
    return HEAD;
  }

  packed({ text, segment }: PackedText): Buffer {
    for (const part of isChunks(text) ? text : [text]) this.#count(part);
    return segment;
  }

  stored(bytes: Uint8Array): Buffer {
    this.#count(bytes);
    return storedBlocks(bytes);
  }

  end(): Buffer {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#length, 4);
    return Buffer.concat([LAST_BLOCK, trailer]);
  }

  #count(part: string | Uint8Array): void {
    this.#crc = crc32(part, this.#crc);
    // The trailer has the length modulo 2 ** 32.
    this.#length = (this.#length + Buffer.byteLength(part)) >>> 0;
  }
}
