import { LRUCache } from 'lru-cache';
import type { CompiledCode } from './compiled-code.ts';

// In fields, each of which weighs some kilobyte.
const MAX_FIELDS = 40_000;

/** All compiled code of the process: what was not used for longest makes room. */
export class CompiledCodeCache {
  readonly #codeCache: LRUCache<CompiledCode, () => void>;

  constructor(maxFields = MAX_FIELDS) {
    this.#codeCache = new LRUCache({
      maxSize: maxFields,
      sizeCalculation: (_dropped, { size }) => 1 + size,
      dispose: (dropped) => dropped(),
    });
  }

  get heldFields(): number {
    return this.#codeCache.calculatedSize;
  }

  put(code: CompiledCode, dropped: () => void): void {
    this.#codeCache.set(code, dropped);
  }

  used(code: CompiledCode): void {
    this.#codeCache.get(code);
  }
}
