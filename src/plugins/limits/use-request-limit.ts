import { after } from '../../lib/eventually.ts';
import { BATCH_SHARE, type RateCounters, type RateState } from '../../store/rate-counters.ts';
import type { Operation } from '../operation.ts';
import type { GraphPlugin } from '../plugin.ts';
import type { Refusal } from '../refusal.ts';
import { overLimit } from './over-limit-error.ts';

export interface RequestLimitOptions {
  readonly counters: RateCounters;
  readonly perMinute: number;
}

const MINUTE = 60;

/** Limits the operations that a client may start in a minute, over all transports. */
export function useRequestLimit({ counters, perMinute }: RequestLimitOptions): GraphPlugin {
  const counter = counters.counter('requests', {
    limit: perMinute,
    windowSeconds: MINUTE,
    batch: perMinute * BATCH_SHARE,
  });
  const policy = `"default";q=${perMinute};w=${MINUTE}`;

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
