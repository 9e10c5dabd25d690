import { after } from '../../lib/eventually.ts';
import {
  BATCH_SHARE,
  type RateCounter,
  type RateCounters,
  type RateState,
} from '../../store/rate-counters.ts';
import type { Operation } from '../operation.ts';
import type { GraphPlugin } from '../plugin.ts';
import type { Refusal } from '../refusal.ts';
import { overLimit } from './over-limit-error.ts';

const MINUTE = 60;

/** Counts the operations that a client may start in a minute. */
export function requestCounter(counters: RateCounters, perMinute: number): RateCounter {
  return counters.counter('requests', {
    limit: perMinute,
    windowSeconds: MINUTE,
    batch: perMinute * BATCH_SHARE,
  });
}

/** Limits the operations that a client may start in a minute, over all transports. */
export function useRequestLimit(counter: RateCounter): GraphPlugin {
  const policy = `"default";q=${counter.limit};w=${MINUTE}`;

  function counted(
    operation: Operation,
    { isOver, remaining, resetMs }: RateState,
  ): Refusal | null {
    const seconds = Math.max(1, Math.ceil(resetMs / 1000));
    operation.headers = {
      ratelimit: `"default";r=${remaining};t=${seconds}`,
      'ratelimit-policy': policy,
    };
    return isOver ? overLimit('RATE_LIMIT_PER_MINUTE', seconds) : null;
  }

  return {
    onAdmit({ operation }) {
      return after(counter.take(operation.client.key), (state) => counted(operation, state));
    },
  };
}
