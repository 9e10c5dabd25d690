import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';
import { type Body, isChunks } from './pack.ts';

const MAX_STORED = 65_535;
const STORED_HEAD_BYTES = 5;
// There is no final block: the stream goes on behind it.
const OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };

/**
 * A text as a segment of a raw DEFLATE stream. It refers to nothing before it and ends on a byte boundary,
 * so the same bytes fit into any stream: they are made once for all who are sent the text.
 */
export class PackedText {
  readonly text: Body;
  readonly segment: Buffer;

  private constructor(text: Body, segment: Buffer) {
    this.text = text;
    this.segment = segment;
  }

  static of(text: string): PackedText {
    return new PackedText(text, deflateRawSync(text, OPTIONS));
  }

  /** In the thread pool. */
  static async ofLarge(text: Body): Promise<PackedText> {
    const chunks = isChunks(text) ? text : [Buffer.from(text)];
    const segment = await buffer(Readable.from(chunks).pipe(createDeflateRaw(OPTIONS)));
    return new PackedText(text, segment);
  }
}

/** Wraps bytes in stored blocks, which carry them unpacked within a raw DEFLATE stream. */
export function storedBlocks(bytes: Uint8Array): Buffer {
  const blocks = Math.max(1, Math.ceil(bytes.length / MAX_STORED));
  const stored = Buffer.allocUnsafe(bytes.length + blocks * STORED_HEAD_BYTES);
  let at = 0;
  for (let from = 0; at < stored.length; from += MAX_STORED) {
    const part = bytes.subarray(from, from + MAX_STORED);
    stored[at] = 0;
    stored.writeUInt16LE(part.length, at + 1);
    stored.writeUInt16LE(part.length ^ 0xffff, at + 3);
    stored.set(part, at + STORED_HEAD_BYTES);
    at += STORED_HEAD_BYTES + part.length;
  }
  return stored;
}

// A gzip member's head (RFC 1952) without time, name or system.
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
const TRAILER_BYTES = 8;

/** One gzip stream of texts that are packed already, with no compressor: browsers read only the first of several members. */
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
