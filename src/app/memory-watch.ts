import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { oldHeapLimit } from './heap-limit.ts';

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
