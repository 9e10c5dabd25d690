import type { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { growingLru } from '../growing-lru.ts';
import type { Client } from './client.ts';
import type { Limit, LimitName, LimitTable } from './table.ts';
import { TokenBucket } from './token-bucket.ts';

/** What a client has left, in the scarcest of its shares. */
export interface Taken {
  readonly isOver: boolean;
  /** Below 0: what it owes. */
  readonly left: number;
  readonly most: number;
  /** The time until enough is there again, or where nothing was refused until all is. */
  readonly waitMs: number;
}

/** The bucket of one part of a client. */
class Bucket extends TokenBucket {
  readonly key: string;
  /** Taken here, and not known to the other replicas. */
  unshared = 0;

  constructor(key: string, { refills, owed = 1 }: Limit, most: number, nowMs: number) {
    super(most, (most * refills) / MINUTE_MS, nowMs, owed * most);
    this.key = key;
  }
}

/** What a replica took from a bucket since it last said so. */
export type Unshared = Pick<Bucket, 'key' | 'most' | 'perMs' | 'unshared'>;

export interface LimiterOptions {
  readonly table: LimitTable;
  /** A monotonic clock. */
  readonly clock: Clock;
  /** Tells the other replicas, and returns what all have left in each; null while the store does not answer. */
  readonly share?: ((taken: readonly Unshared[]) => Promise<readonly number[] | null>) | undefined;
}

/** Beyond so many of one kind the least recently used is forgotten, so that a flood costs no memory. */
const MOST_BUCKETS = 100_000;
const BUCKET_BYTES = 260;
const MINUTE_MS = 60_000;
const SHARE_MS = 100;
// A sum of fractions may be a little less than the whole.
const TOLERANCE = 1e-6;

/**
 * The token buckets of all limits. Replicas that share a limit have one each, and bring them into line ten times a
 * second: nobody waits for the store, and what they have let through together beyond the limit is owed.
 */
export class Limiter {
  readonly table: LimitTable;
  readonly #options: LimiterOptions;
  readonly #buckets = new Map<string, LRUCache<string, Bucket>>();
  readonly #unshared = new Set<Bucket>();

  constructor(options: LimiterOptions) {
    this.table = options.table;
    this.#options = options;
  }

  get byteSize(): number {
    return [...this.#buckets.values()].reduce((sum, { calculatedSize }) => sum + calculatedSize, 0);
  }

  /** Takes so many from each of a client's shares, or where one has too little left from none. */
  take(name: LimitName, client: Client, points = 1): Taken {
    const nowMs = this.#options.clock.now();
    const taken = scarcest(this.#bucketsOf(name, client, nowMs), points, nowMs);
    return taken.isOver || points === 0 ? taken : this.spend(name, client, points);
  }

  /** Takes what was used already, or is given back where it is below 0. */
  spend(name: LimitName, client: Client, points: number): Taken {
    const nowMs = this.#options.clock.now();
    const buckets = this.#bucketsOf(name, client, nowMs);
    for (const bucket of buckets) {
      const wasEmpty = bucket.take(0, nowMs) < 0;
      bucket.take(points, nowMs);
      if (this.table[name].isShared) this.#shareSoon(bucket, points);
      // What a token or a network uses beyond its share is not taken from the whole.
      if (wasEmpty && points > 0) break;
    }
    return scarcest(buckets, 0, nowMs);
  }

  giveBack(name: LimitName, client: Client): void {
    this.spend(name, client, -1);
  }

  /** Charges another client in place of the first, unless that one has too little left. */
  move(name: LimitName, from: Client, to: Client): void {
    if (!this.take(name, to).isOver) this.giveBack(name, from);
  }

  #bucketsOf(name: LimitName, { kind, parts }: Client, nowMs: number): readonly Bucket[] {
    const limit: Limit = this.table[name];
    const group = `${name} ${kind}`;
    let known = this.#buckets.get(group);
    if (known === undefined) {
      known = growingLru({ maxEntries: MOST_BUCKETS, entryBytes: BUCKET_BYTES });
      this.#buckets.set(group, known);
    }
    return parts.map(({ key, share }) => {
      const before = known.get(key);
      if (before) return before;
      const most = Math.max(1, Math.floor((limit[kind] ?? 0) * share));
      const bucket = new Bucket(`${name} ${key}`, limit, most, nowMs);
      known.set(key, bucket);
      return bucket;
    });
  }

  #shareSoon(bucket: Bucket, points: number): void {
    const { clock, share } = this.#options;
    if (share === undefined) return;
    bucket.unshared += points;
    if (this.#unshared.size === 0) clock.after(SHARE_MS, () => void this.#shareAll(share));
    this.#unshared.add(bucket);
  }

  async #shareAll(share: NonNullable<LimiterOptions['share']>): Promise<void> {
    const buckets = [...this.#unshared];
    this.#unshared.clear();
    const taken = buckets.map(({ key, most, perMs, unshared }) => ({ key, most, perMs, unshared }));
    for (const bucket of buckets) bucket.unshared = 0;
    const levels = await share(taken);
    for (const [at, level] of levels?.entries() ?? []) {
      const bucket = buckets[at] as Bucket;
      // Meanwhile more may have been taken.
      bucket.set(level - bucket.unshared, this.#options.clock.now());
    }
  }
}

function scarcest(buckets: readonly Bucket[], points: number, nowMs: number): Taken {
  let least: Taken | null = null;
  for (const bucket of buckets) {
    const left = bucket.take(0, nowMs);
    if (least !== null && left >= least.left) continue;
    const { most, perMs } = bucket;
    const isOver = left + TOLERANCE < points;
    least = { isOver, left, most, waitMs: ((isOver ? points : most) - left) / perMs };
  }
  return least as Taken;
}
