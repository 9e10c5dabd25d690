import { LRUCache } from 'lru-cache';
import { type Encoding, pack } from '../../lib/pack.ts';
import type { CatalogUse } from './catalog-only.ts';

export interface CachedResponse {
  readonly etag: string;
  /** Null where the bytes are not held: they are too many, or every request has its own. */
  readonly plain: Buffer | null;
}

/** An answer, and packed as far as anybody has asked for it. */
interface Entry {
  readonly answer: CachedResponse | null;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const MAX_BYTES = 96 * 1024 * 1024;
const MOST_OF_ONE = 48 * 1024 * 1024;
// What an entry weighs beside its bytes, measured: a flood of tiny answers must count as what it is.
const BYTES_PER_ENTRY = 700;

/**
 * Answers made of the catalog alone, as bytes: for the same version, document and variables they are
 * the same. Whoever is sent them has been proved first; what is held here is nobody's own, as the
 * marks of its fields said and as its run has shown.
 */
export class ResponseCache {
  readonly #maxOfOne: number;
  readonly #entries: LRUCache<string, Entry>;
  readonly #packing = new Map<string, Promise<Buffer>>();
  readonly #barred = new WeakSet<CatalogUse>();

  constructor(maxBytes = MAX_BYTES) {
    this.#maxOfOne = Math.min(maxBytes, MOST_OF_ONE);
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  get heldBytes(): number {
    return this.#entries.calculatedSize;
  }

  get(name: string): CachedResponse | undefined {
    return this.#entries.get(name)?.answer ?? undefined;
  }

  hold(name: string, { etag, plain }: CachedResponse): void {
    const entry = this.#entries.peek(name);
    const answer = { etag, plain: plain && alone(plain) };
    if (!this.#put(name, { ...entry, answer })) {
      this.#put(name, { ...entry, answer: { etag, plain: null } });
    }
  }

  /** An operation whose run has read what its fields' marks do not say: nothing of it is held. */
  bar(use: CatalogUse): void {
    this.#barred.add(use);
  }

  isBarred(use: CatalogUse): boolean {
    return this.#barred.has(use);
  }

  /** Compressed once per answer, off the event loop; those who ask meanwhile wait for the same. */
  packed(name: string, plain: Buffer, encoding: Encoding): Buffer | Promise<Buffer> {
    const held = this.#entries.get(name)?.[encoding];
    if (held) return held;
    const task = `${encoding} ${name}`;
    const underWay = this.#packing.get(task);
    if (underWay) return underWay;
    // Worth more than the quickest pass, not the minute of the best.
    const packing = pack(plain, encoding, 'thorough')
      .then((bytes) => this.#keep(name, encoding, bytes))
      .finally(() => this.#packing.delete(task));
    this.#packing.set(task, packing);
    return packing;
  }

  #keep(name: string, encoding: Encoding, bytes: Buffer): Buffer {
    const packed = alone(bytes);
    const entry: Entry = { answer: null, ...this.#entries.peek(name), [encoding]: packed };
    if (!this.#put(name, entry)) {
      // A client that takes it packed needs no other form of it.
      this.#put(name, { ...entry, answer: entry.answer && { ...entry.answer, plain: null } });
    }
    return packed;
  }

  /** False: it is too large, and what is held stays as it was. */
  #put(name: string, entry: Entry): boolean {
    if (sizeOf(entry, name) > this.#maxOfOne) return false;
    this.#entries.set(name, entry);
    return true;
  }
}

function sizeOf({ answer, br, gzip }: Entry, name: string): number {
  const bytes = (answer?.plain?.length ?? 0) + (br?.length ?? 0) + (gzip?.length ?? 0);
  // A name can hold what a client wrote, in two bytes for each character.
  return BYTES_PER_ENTRY + 2 * name.length + bytes;
}

/** Small buffers are cut out of larger blocks, which live as long as any piece of them does. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
