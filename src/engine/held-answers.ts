import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export type Encoding = 'br' | 'gzip';

const MAX_BYTES = 96 * 1024 * 1024;
const MOST_OF_ONE = 48 * 1024 * 1024;
// What an entry weighs beside its bytes, measured: a flood of tiny answers must count as what it is.
const BYTES_PER_ENTRY = 600;

const compressors = {
  // Made once for many readers: worth more than the fastest pass, not the minute of the best.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 6 }),
};

/**
 * Answers made of the catalog alone, as bytes: for the same version, document and variables they are
 * the same. Whoever is sent them has been proved first; what is held here is nobody's own.
 */
export class HeldAnswers {
  readonly #bytes: LRUCache<string, Buffer>;
  readonly #packing = new Map<string, Promise<Buffer>>();

  constructor(maxBytes = MAX_BYTES) {
    this.#bytes = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: Math.min(maxBytes, MOST_OF_ONE),
      sizeCalculation: (bytes, key) => BYTES_PER_ENTRY + bytes.length + key.length,
    });
  }

  get heldBytes(): number {
    return this.#bytes.calculatedSize;
  }

  get(key: string): Buffer | undefined {
    return this.#bytes.get(key);
  }

  hold(key: string, bytes: Buffer): void {
    this.#bytes.set(key, alone(bytes));
  }

  /** Compressed once per answer, off the event loop; those who ask meanwhile wait for the same. */
  packed(key: string, bytes: Buffer, encoding: Encoding): Buffer | Promise<Buffer> {
    const name = `${encoding} ${key}`;
    const held = this.#bytes.get(name);
    if (held) return held;
    const underWay = this.#packing.get(name);
    if (underWay) return underWay;
    const packing = compressors[encoding](bytes)
      .then((packed) => {
        this.hold(name, packed);
        return packed;
      })
      .finally(() => this.#packing.delete(name));
    this.#packing.set(name, packing);
    return packing;
  }
}

/** Small buffers are cut out of larger blocks, which live as long as any piece of them does. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
