import { LRUCache } from 'lru-cache';
import type { CompiledCode } from './compiled-code.ts';

// The limit is in fields.
const MAX_FIELDS = 40_000;
// As measured, about.
const BYTES_PER_FIELD = 1_024;

/** All compiled code of the process, as an LRU cache. */
export class CompiledCodeCache {
  readonly #codeCache: LRUCache<CompiledCode, () => void>;

  constructor(maxFields = MAX_FIELDS) {
    this.#codeCache = new LRUCache({
      maxSize: maxFields,
      sizeCalculation: (_dropped, { size }) => 1 + size,
      dispose: (dropped) => dropped(),
    });
  }

  get fieldCount(): number {
    return this.#codeCache.calculatedSize;
  }

  get byteSize(): number {
    return this.fieldCount * BYTES_PER_FIELD;
  }

  put(code: CompiledCode, dropped: () => void): void {
    this.#codeCache.set(code, dropped);
  }

  used(code: CompiledCode): void {
    this.#codeCache.get(code);
  }

  drop(code: CompiledCode): void {
    this.#codeCache.delete(code);
  }
}
