import type { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { growingLru } from '../growing-lru.ts';
import { memo } from '../memo.ts';
import type { Client, ClientKind } from './client.ts';
import type { Limits } from './limit.ts';
import { type BucketRule, TokenBucket } from './token-bucket.ts';

/** Tells what a client has left, in the scarcest of its shares. */
export interface Taken {
  readonly isOver: boolean;
  /** It is below 0 where the client owes some. */
  readonly left: number;
  readonly max: number;
  /** It takes so long until enough is there again, or where nothing was refused until all is. */
  readonly waitMs: number;
}

/**
 * Tells the other replicas what this one took of each bucket, and returns what all have left in each; null while the store
 * does not answer. `figures`: of each its size, what it earns in a millisecond, and what was taken.
 */
export type Share = (keys: string[], figures: number[]) => Promise<readonly number[] | null>;

interface Bucket {
  readonly limit: string;
  readonly key: string;
  readonly tokens: TokenBucket;
  /** So many are not lent to a client that has used up its own share: they are kept for others. */
  readonly kept: number;
  /** So many were taken here that the other replicas do not know of yet. */
  unshared: number;
}

/** The least recently used of one kind is forgotten beyond so many, so that a flood costs no memory. */
const MAX_BUCKETS = 100_000;
const BUCKET_BYTES = 300;
const newKinds = () => new Map<ClientKind, LRUCache<string, Bucket>>();
const newBuckets = () =>
  growingLru<string, Bucket>({ maxEntries: MAX_BUCKETS, entryBytes: BUCKET_BYTES });
const MINUTE_MS = 60_000;
const SHARE_MS = 100;
// A sum of fractions may be a little less than the whole.
const TOLERANCE = 1e-6;

/**
 * The token buckets of all limits. Replicas that share a limit have one each, and bring them into line ten times a
 * second: nobody waits for the store, and what they have let through together beyond the limit is owed.
 */
export class Limiter<Name extends string> {
  readonly table: Limits<Name>;
  readonly #clock: Clock;
  readonly #share: Share | undefined;
  readonly #buckets = new Map<string, ReturnType<typeof newKinds>>();
  /** One for all clients with the same share: with their own, buckets would take half as much again. */
  readonly #rules = new Map<string, BucketRule>();
  readonly #unshared = new Set<Bucket>();

  /** `clock` is a monotonic one. Without `share` this process counts for itself. */
  constructor(table: Limits<Name>, clock: Clock, share?: Share) {
    this.table = table;
    this.#clock = clock;
    this.#share = share;
  }

  get byteSize(): number {
    const all = [...this.#buckets.values()].flatMap((byKind) => [...byKind.values()]);
    return all.reduce((sum, { calculatedSize }) => sum + calculatedSize, 0);
  }

  /** Takes so many from each of a client's shares, or where one has less than is needed from none. */
  take(name: Name, client: Client, points = 1, needed = points): Taken {
    const nowMs = this.#clock.now();
    const buckets = this.#bucketsOf(name, client, nowMs);
    const before = scarcest(buckets, nowMs, needed);
    if (points === 0 || before.isOver) return before;
    this.#spendFrom(name, buckets, points, nowMs);
    return scarcest(buckets, nowMs, needed - points);
  }

  /** Takes what was used already, or is given back where it is below 0. */
  spend(name: Name, client: Client, points: number): Taken {
    const nowMs = this.#clock.now();
    const buckets = this.#bucketsOf(name, client, nowMs);
    this.#spendFrom(name, buckets, points, nowMs);
    return scarcest(buckets, nowMs, 0);
  }

  #spendFrom(name: Name, buckets: readonly Bucket[], points: number, nowMs: number): void {
    const isShared = this.#share !== undefined && this.table[name].isShared;
    for (const bucket of isLent(buckets, points, nowMs) ? buckets.slice(1) : buckets) {
      const wasEmpty = bucket.tokens.left(nowMs) < 0;
      bucket.tokens.take(points, nowMs);
      if (isShared) this.#shareSoon(bucket, points);
      // A token or a network that exceeds its share takes nothing from the whole.
      if (wasEmpty && points > 0) break;
    }
  }

  giveBack(name: Name, client: Client): void {
    this.spend(name, client, -1);
  }

  /** Charges another client in place of the first, unless that one has too little left. */
  move(name: Name, from: Client, to: Client): void {
    if (!this.take(name, to).isOver) this.giveBack(name, from);
  }

  #bucketsOf(name: Name, { kind, parts }: Client, nowMs: number): readonly Bucket[] {
    const known = memo(memo(this.#buckets, name, newKinds), kind, newBuckets);
    // It has its size from the start: one that grows has room for seventeen.
    const buckets = Array<Bucket>(parts.length);
    let at = 0;
    for (const { key, share, keeps = 0 } of parts) {
      let bucket = known.get(key);
      if (bucket === undefined) {
        const { max: whole, refills, maxDebt } = this.table[name];
        if (whole[kind] === undefined)
          throw new TypeError(`The limit ${name} has no number for ${kind}.`);
        const max = Math.max(1, Math.floor(whole[kind] * share));
        // Concurrent uses cannot be given back to others, so none of them is lent.
        const kept = refills > 0 ? Math.floor(max * keeps) : 0;
        const perMs = (max * refills) / MINUTE_MS;
        const rule = { max: max + kept, perMs, maxDebt: max * maxDebt };
        const shared = memo(this.#rules, JSON.stringify(rule), () => rule);
        bucket = { limit: name, key, tokens: new TokenBucket(shared, nowMs), kept, unshared: 0 };
        known.set(key, bucket);
      }
      buckets[at] = bucket;
      at += 1;
    }
    return buckets;
  }

  #shareSoon(bucket: Bucket, points: number): void {
    bucket.unshared += points;
    if (this.#unshared.size === 0)
      this.#clock.after(SHARE_MS, () => fireAndForget('shared limits', this.#shareAll()));
    this.#unshared.add(bucket);
  }

  async #shareAll(): Promise<void> {
    const buckets = [...this.#unshared];
    this.#unshared.clear();
    const keys = buckets.map(({ limit, key }) => `${limit} ${key}`);
    const figures = buckets.flatMap(({ tokens: { rule }, unshared }) => {
      return [rule.max, rule.perMs, unshared];
    });
    for (const bucket of buckets) bucket.unshared = 0;
    const levels = (await this.#share?.(keys, figures)) ?? null;
    for (const [at, { tokens, unshared }] of levels === null ? [] : buckets.entries()) {
      // Meanwhile more may have been taken.
      tokens.set((levels?.[at] as number) - unshared, this.#clock.now());
    }
  }
}

/**
 * Tells what there is least of, as one that needs so many finds it. A token has its own share of its account's, or what the
 * account can lend it where that is more. Each request asks several times, so that one object is made.
 */
function scarcest(buckets: readonly Bucket[], nowMs: number, needed: number): Taken {
  let least = buckets[0] as Bucket;
  let left = least.tokens.left(nowMs);
  const lent = lentBy(buckets[1], nowMs);
  if (lent > left) {
    least = buckets[1] as Bucket;
    left = lent;
  }
  for (let at = 1; at < buckets.length; at += 1) {
    const bucket = buckets[at] as Bucket;
    const own = bucket.tokens.left(nowMs);
    if (own >= left) continue;
    least = bucket;
    left = own;
  }
  const { tokens, kept } = least;
  const max = tokens.rule.max - kept;
  const isOver = isBelow(left, needed);
  return { isOver, left, max, waitMs: ((isOver ? needed : max) - left) / tokens.rule.perMs };
}

/** Whether a token takes from its account alone, because that lends it more than it has itself, or gives back there. */
function isLent([own, whole]: readonly Bucket[], points: number, nowMs: number): boolean {
  const lent = lentBy(whole, nowMs);
  if (own === undefined || lent <= 0) return false;
  const left = own.tokens.left(nowMs);
  return points < 0 || (isBelow(left, points) && lent > left);
}

/** What a bucket lends beyond what it keeps; less than nothing where it lends none. */
function lentBy(whole: Bucket | undefined, nowMs: number): number {
  if (whole === undefined || whole.kept === 0) return Number.NEGATIVE_INFINITY;
  return whole.tokens.left(nowMs) - whole.kept;
}

function isBelow(left: number, points: number): boolean {
  return left + TOLERANCE < points;
}
