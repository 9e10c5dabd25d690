import type { LRUCache } from 'lru-cache';
import type { ClientKey } from '../../domain/auth/client-key.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import {
  BATCH_SHARE,
  type RateCounter,
  type RateCounters,
  type RateState,
} from '../../store/rate-counters.ts';
import { type Quota, waiting } from '../limits/request-quota.ts';

export interface CostQuotaOptions {
  readonly counters: RateCounters;
  readonly fieldsPerMinute: number;
  /** Milliseconds of a monotonic clock. */
  readonly uptimeMs?: () => number;
}

const MINUTE = 60;
const MAX_CLIENTS = 100_000;

/**
 * Limits the fields that a client's answers may contain in a minute. They are known only once an
 * answer is complete, so the answer that exceeds the limit is still sent, and the next request is
 * refused.
 */
export class CostQuota {
  readonly #counter: RateCounter;
  readonly #uptimeMs: () => number;
  readonly #fullUntilMs: LRUCache<string, number>;

  constructor({ counters, fieldsPerMinute, uptimeMs }: CostQuotaOptions) {
    this.#counter = counters.counter('cost', {
      limit: fieldsPerMinute,
      windowSeconds: MINUTE,
      batch: fieldsPerMinute * BATCH_SHARE,
    });
    this.#uptimeMs = uptimeMs ?? (() => performance.now());
    this.#fullUntilMs = growingLru({ maxEntries: MAX_CLIENTS, entryBytes: 110 });
  }

  get byteSize(): number {
    return this.#fullUntilMs.calculatedSize;
  }

  /** A refusal while the client's budget of the minute is used up, else null. */
  refusal({ key }: ClientKey): (Quota & { readonly error: NonNullable<Quota['error']> }) | null {
    const untilMs = this.#fullUntilMs.get(key);
    if (untilMs === undefined) return null;
    const leftMs = untilMs - this.#uptimeMs();
    if (leftMs > 0) return waiting(Math.max(1, Math.ceil(leftMs / 1000)), 'COST_LIMIT_PER_MINUTE');
    this.#fullUntilMs.delete(key);
    return null;
  }

  charge({ key }: ClientKey, fields: number): void {
    const taken = this.#counter.take(key, fields);
    if (taken instanceof Promise) void taken.then((state) => this.#note(key, state));
    else this.#note(key, taken);
  }

  #note(key: string, { isOver, resetMs }: RateState): void {
    if (isOver) this.#fullUntilMs.set(key, this.#uptimeMs() + resetMs);
  }
}
