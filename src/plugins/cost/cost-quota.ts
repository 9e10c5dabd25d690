import type { ExecutionResult } from 'graphql';
import type { LRUCache } from 'lru-cache';
import { after } from '../../lib/eventually.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import {
  BATCH_SHARE,
  type RateCounter,
  type RateCounters,
  type RateState,
} from '../../store/rate-counters.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import type { Client, Operation } from '../operation.ts';
import type { GraphPlugin } from '../plugin.ts';
import type { Refusal } from '../refusal.ts';

interface CostQuotaOptions {
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
  refusal({ key }: Client): Refusal | null {
    const untilMs = this.#fullUntilMs.get(key);
    if (untilMs === undefined) return null;
    const leftMs = untilMs - this.#uptimeMs();
    if (leftMs > 0)
      return overLimit('COST_LIMIT_PER_MINUTE', Math.max(1, Math.ceil(leftMs / 1000)));
    this.#fullUntilMs.delete(key);
    return null;
  }

  charge({ key }: Client, fields: number): void {
    if (fields === 0) return;
    void after(this.#counter.take(key, fields), (state) => this.#note(key, state));
  }

  #note(key: string, { isOver, resetMs }: RateState): void {
    if (isOver) this.#fullUntilMs.set(key, this.#uptimeMs() + resetMs);
  }
}

/** Refuses a client whose budget of the minute is used up, and charges what its answers contain. */
export function useCostBudget(quota: CostQuota): GraphPlugin {
  return {
    onAdmit: ({ operation: { client } }) => quota.refusal(client),
    onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
      const { operation } = contextValue;
      const charged = <Result>(result: Result): Result => {
        quota.charge(operation.client, operation.meter.fields);
        return result;
      };
      setExecuteFn((args) => after(refusalOf(quota, operation) ?? executeFn(args), charged));
    },
  };
}

/** Hundreds of costly operations may have been admitted before the first of them was charged. */
function refusalOf(quota: CostQuota, { client, meter }: Operation): ExecutionResult | null {
  const refusal = meter.isCostly ? quota.refusal(client) : null;
  return refusal && { errors: refusal.errors };
}
