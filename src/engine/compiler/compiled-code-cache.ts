import { LRUCache } from 'lru-cache';
import type { CompiledCode } from './compiled-code.ts';

// The limit is in fields, each of which weighs about a kilobyte.
const MAX_FIELDS = 40_000;

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

  put(code: CompiledCode, dropped: () => void): void {
    this.#codeCache.set(code, dropped);
  }

  used(code: CompiledCode): void {
    this.#codeCache.get(code);
  }
}
