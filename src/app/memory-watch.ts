import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Log } from '../lib/log.ts';
import { oldHeapLimit } from './heap-limit.ts';

const SHORT_SHARE = 0.8;
// Lower than SHORT_SHARE, so that a single answer does not change the state back.
const ENOUGH_SHARE = 0.7;
const YOUNG_SPACES = ['new_space', 'new_large_object_space'];

/** Measures the live heap after each major collection. The used heap includes garbage, which V8 lets grow. */
export class MemoryWatch {
  readonly #log: Pick<Log, 'warn' | 'info'>;
  readonly #limitBytes: number;
  readonly #observer: PerformanceObserver;
  #heldShare = 0;
  #isShort = false;

  constructor(log: Pick<Log, 'warn' | 'info'>, limitBytes = oldHeapLimit()) {
    this.#log = log;
    this.#limitBytes = limitBytes;
    this.#observer = new PerformanceObserver((list) => {
      if (list.getEntries().some(isMajor)) this.#judge();
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** The live heap after the last major collection, as a share of the heap's limit. */
  get heldShare(): number {
    return this.#heldShare;
  }

  degradedReason(): string | null {
    return this.#isShort ? `${Math.round(this.#heldShare * 100)} % of the heap are held` : null;
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect();
  }

  #judge(): void {
    this.#heldShare = heldBytes() / this.#limitBytes;
    const isShort = this.#heldShare > (this.#isShort ? ENOUGH_SHARE : SHORT_SHARE);
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const record = { heldShare: Math.round(this.#heldShare * 100) / 100 };
    if (isShort) this.#log.warn(record, 'memory is short');
    else this.#log.info(record, 'memory is no longer short');
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
