import type { GraphQLError } from 'graphql';
import type { ClientKey } from '../../domain/auth/client-key.ts';
import type { Eventually } from '../../lib/eventually.ts';
import {
  BATCH_SHARE,
  type RateCounter,
  type RateCounters,
  type RateState,
} from '../../store/rate-counters.ts';
import type { Limit } from '../errors/engine-metrics.ts';
import { OverLimitError } from './over-limit-error.ts';

export interface RequestQuotaOptions {
  readonly counters: RateCounters;
  readonly perMinute: number;
}

export interface Quota {
  /** Null where the operation may go on. */
  readonly error: GraphQLError | null;
  readonly headers: Readonly<Record<string, string>>;
}

const MINUTE = 60;

/** Limits the operations that a client may start in a minute, over all transports. */
export class RequestQuota {
  readonly #counter: RateCounter;
  readonly #policy: string;

  constructor({ counters, perMinute }: RequestQuotaOptions) {
    this.#counter = counters.counter('requests', {
      limit: perMinute,
      windowSeconds: MINUTE,
      batch: perMinute * BATCH_SHARE,
    });
    this.#policy = `"default";q=${perMinute};w=${MINUTE}`;
  }

  take({ key }: ClientKey): Eventually<Quota> {
    const taken = this.#counter.take(key);
    return taken instanceof Promise
      ? taken.then((state) => this.#quota(state))
      : this.#quota(taken);
  }

  #quota({ isOver, remaining, resetMs }: RateState): Quota {
    const seconds = Math.max(1, Math.ceil(resetMs / 1000));
    const headers = {
      ratelimit: `"default";r=${remaining};t=${seconds}`,
      'ratelimit-policy': this.#policy,
    };
    return isOver ? waiting(seconds, 'RATE_LIMIT_PER_MINUTE', headers) : { error: null, headers };
  }
}

/** Refuses the whole request, with the seconds after which to retry. */
export function waiting(
  retryAfterSeconds: number,
  limit: Limit,
  headers: Readonly<Record<string, string>> = {},
): Quota & { readonly error: GraphQLError } {
  const error = new OverLimitError({ limit, retryAfterSeconds });
  return { error, headers: { ...headers, 'retry-after': String(retryAfterSeconds) } };
}
