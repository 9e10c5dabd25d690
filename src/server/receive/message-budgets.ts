import type { ClientKeys } from '../../domain/auth/client-key.ts';
import type { Caller } from '../../gateway/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { type BucketRule, TokenBucket } from '../../lib/token-bucket.ts';

/** `over`: is answered that it sends too much. `far over`: has gone on after so many of these answers. */
export type Standing = 'within' | 'over' | 'far over';

export interface MessageBudgetsOptions {
  /** The operations that a client may start in a minute. */
  readonly ratePerMinute: number;
  readonly clients: Pick<ClientKeys, 'of'>;
  readonly clock: Clock;
  /** Called for each message that is beyond a client's budget. */
  readonly onOver?: () => void;
}

const SMALLEST_RATE = 1_200;
// Each operation may come with a preflight, or end with a `complete`; a minute's may come at once, and the next one's too.
const BURST_RATES = 2;
const RATES_PER_MINUTE = 5;
// The largest body costs as much as seventeen small ones.
const BYTES_PER_POINT = 16_384;
const MAX_CLIENTS = 100_000;
const CLIENT_BYTES = 160;

/**
 * Counts everything that a client sends, whatever its answer: requests that are refused or not found,
 * pings, fragments, messages about unknown operations. None of them counts as an operation. Only this process
 * counts them, since it is this process that they cost.
 */
export class MessageBudgets {
  readonly #clients: Pick<ClientKeys, 'of'>;
  readonly #clock: Clock;
  readonly #onOver: (() => void) | undefined;
  readonly #rule: BucketRule;
  readonly #buckets = growingLru<string, TokenBucket>({
    maxEntries: MAX_CLIENTS,
    entryBytes: CLIENT_BYTES,
  });

  constructor({ ratePerMinute, clients, clock, onOver }: MessageBudgetsOptions) {
    const rate = Math.max(ratePerMinute, SMALLEST_RATE);
    this.#rule = { burst: BURST_RATES * rate, perSecond: (RATES_PER_MINUTE * rate) / 60 };
    this.#clients = clients;
    this.#clock = clock;
    this.#onOver = onOver;
  }

  get byteSize(): number {
    return this.#buckets.calculatedSize;
  }

  /** Counts a message of so many bytes: a large one costs more to receive. Cross-site ones have a budget of their own. */
  take(caller: Caller, bytes = 0, isCrossSite = false): Standing {
    const { key } = this.#clients.of(caller);
    const points = 1 + Math.floor(bytes / BYTES_PER_POINT);
    const left = this.#take(isCrossSite ? `cross-site ${key}` : key, points);
    if (left >= 0) return 'within';
    this.#onOver?.();
    return left > -this.#rule.burst ? 'over' : 'far over';
  }

  /** Counts a message for the client that has turned out to have sent it, unless that has used up its budget. */
  move(from: string, to: string): void {
    if (this.#take(to, 1) >= 0) this.#take(from, -1);
  }

  #take(key: string, points: number): number {
    const nowMs = this.#clock.now();
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.#rule, nowMs);
      this.#buckets.set(key, bucket);
    }
    return bucket.take(this.#rule, nowMs, points);
  }
}
