import type { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { growingLru } from '../growing-lru.ts';
import { memo } from '../memo.ts';
import type { Client, ClientKind } from './client.ts';
import type { Limits } from './limit.ts';
import { type BucketRule, TokenBucket } from './token-bucket.ts';

/** Tells what a client has left. */
export interface Taken {
  readonly isOver: boolean;
  /** It is below 0 where the client owes some. */
  readonly left: number;
  readonly max: number;
  /** The time until enough is there again; where nothing was refused, until all is. */
  readonly waitMs: number;
}

/**
 * Tells the other replicas what this one took of each bucket, and returns what all have left in each; null while the store
 * does not answer. `figures`: of each its size, what it earns in a millisecond, and what was taken.
 */
export type Share = (keys: string[], figures: number[]) => Promise<readonly number[] | null>;

interface Bucket {
  readonly name: string;
  readonly tokens: TokenBucket;
  /** So many were taken here that the other replicas do not know of yet. */
  unshared: number;
}

/** Beyond so many of one kind the least recently used is forgotten, so that a flood costs no memory. */
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
  /** One for all clients of a kind: with their own, buckets would take half as much again. */
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

  /** Takes so many, or none where the client has less than is needed. */
  take(name: Name, client: Client, points = 1, needed = points): Taken {
    const nowMs = this.#clock.now();
    const bucket = this.#bucketOf(name, client, nowMs);
    if (points === 0 || isTooLittle(bucket.tokens.left(nowMs), needed)) {
      return taken(bucket.tokens, nowMs, needed);
    }
    this.#spendFrom(name, bucket, points, nowMs);
    return taken(bucket.tokens, nowMs, needed - points);
  }

  /** Takes what was used already, or is given back where it is below 0. */
  spend(name: Name, client: Client, points: number): Taken {
    const nowMs = this.#clock.now();
    const bucket = this.#bucketOf(name, client, nowMs);
    this.#spendFrom(name, bucket, points, nowMs);
    return taken(bucket.tokens, nowMs, 0);
  }

  giveBack(name: Name, client: Client): void {
    this.spend(name, client, -1);
  }

  /** Charges another client in place of the first, unless that one has too little left. */
  move(name: Name, from: Client, to: Client): void {
    if (!this.take(name, to).isOver) this.giveBack(name, from);
  }

  #spendFrom(name: Name, bucket: Bucket, points: number, nowMs: number): void {
    bucket.tokens.take(points, nowMs);
    if (this.#share === undefined || !this.table[name].isShared) return;
    bucket.unshared += points;
    if (this.#unshared.size === 0)
      this.#clock.after(SHARE_MS, () => fireAndForget('shared limits', this.#shareAll()));
    this.#unshared.add(bucket);
  }

  #bucketOf(name: Name, client: Client, nowMs: number): Bucket {
    const { kind, key } = client;
    return this.#buckets.get(name)?.get(kind)?.get(key) ?? this.#newBucket(name, client, nowMs);
  }

  #newBucket(name: Name, { kind, key }: Client, nowMs: number): Bucket {
    const known = memo(memo(this.#buckets, name, newKinds), kind, newBuckets);
    return memo<string, Bucket>(known, key, () => {
      const rule = memo(this.#rules, `${name} ${kind}`, () => this.#ruleOf(name, kind));
      return { name: `${name} ${key}`, tokens: new TokenBucket(rule, nowMs), unshared: 0 };
    });
  }

  #ruleOf(name: Name, kind: ClientKind): BucketRule {
    const { max: maxBy, refills, maxDebt } = this.table[name];
    const max = maxBy[kind];
    if (max === undefined) throw new TypeError(`The limit ${name} has no number for ${kind}.`);
    return { max, perMs: (max * refills) / MINUTE_MS, maxDebt: max * maxDebt };
  }

  async #shareAll(): Promise<void> {
    const buckets = [...this.#unshared];
    this.#unshared.clear();
    const figures = buckets.flatMap(({ tokens: { rule }, unshared }) => {
      return [rule.max, rule.perMs, unshared];
    });
    for (const bucket of buckets) bucket.unshared = 0;
    const names = buckets.map(({ name }) => name);
    const levels = (await this.#share?.(names, figures)) ?? null;
    for (const [at, { tokens, unshared }] of levels === null ? [] : buckets.entries()) {
      // Meanwhile more may have been taken.
      tokens.set((levels?.[at] as number) - unshared, this.#clock.now());
    }
  }
}

function isTooLittle(left: number, needed: number): boolean {
  return left + TOLERANCE < needed;
}

function taken(tokens: TokenBucket, nowMs: number, needed: number): Taken {
  const { max, perMs } = tokens.rule;
  const left = tokens.left(nowMs);
  const isOver = isTooLittle(left, needed);
  return { isOver, left, max, waitMs: ((isOver ? needed : max) - left) / perMs };
}
