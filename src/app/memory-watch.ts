import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MB = 1024 ** 2;
// V8 keeps young objects in three semi-spaces, of 64 MB each in Node 24 and of 32 MB in Node 26.
const YOUNG_BYTES = process.versions.node.startsWith('24.') ? 192 * MB : 96 * MB;
const MAX_HELD_SHARE = 0.8;
const YOUNG_SPACES = ['new_space', 'new_large_object_space'];

/** Measures the live heap after each major collection. The used heap includes garbage, which V8 lets grow. */
export class MemoryWatch {
  readonly #observer: PerformanceObserver;
  #heldShare = 0;

  constructor(limitBytes = oldHeapLimit()) {
    this.#observer = new PerformanceObserver((list) => {
      if (list.getEntries().some(isMajor)) this.#heldShare = heldBytes() / limitBytes;
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** The live heap after the last major collection, as a share of the heap's limit. */
  get heldShare(): number {
    return this.#heldShare;
  }

  degradedReason(): string | null {
    const percent = Math.round(this.#heldShare * 100);
    return this.#heldShare > MAX_HELD_SHARE ? `${percent} % of the heap are held` : null;
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect();
  }
}

function isMajor(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function heldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !YOUNG_SPACES.includes(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

/** The bytes that long-lived objects can take. V8's limit includes the young generation, which they cannot use. */
export function oldHeapLimit(): number {
  const limit = getHeapStatistics().heap_size_limit;
  // In a small heap the young generation is smaller too.
  return Math.max(limit - YOUNG_BYTES, limit / 2);
}
