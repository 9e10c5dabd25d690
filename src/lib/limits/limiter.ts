import type { LRUCache } from 'lru-cache';
import { growingLru, memo } from '../caches.ts';
import type { Clock } from '../clock.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import type { Limits } from './limit.ts';
import type { Client, ClientKind } from './request-caller.ts';

/** A client's balance of one limit. */
export interface Balance {
  readonly isOver: boolean;
  /** Below 0 if the client is in debt. */
  readonly left: number;
  readonly max: number;
  /** After a refusal, the time until the client has enough tokens; otherwise, the time until its bucket is full. */
  readonly waitMs: number;
}

/**
 * Reports this replica's usage of each bucket, and returns the level of each over all replicas; null if the store does not
 * answer. `figures` has three numbers per bucket: its size, its refill per millisecond, and the usage.
 */
export type ShareUsage = (keys: string[], figures: number[]) => Promise<readonly number[] | null>;

interface Bucket {
  readonly name: string;
  readonly tokens: TokenBucket;
  /** Usage that was not reported to the other replicas yet. */
  unshared: number;
}

/** The maximum of buckets per kind. Beyond it the least recently used one is dropped, so that a flood costs no memory. */
const MAX_BUCKETS = 100_000;
const BUCKET_BYTES = 300;
const newKinds = () => new Map<ClientKind, LRUCache<string, Bucket>>();
const newBuckets = () =>
  growingLru<string, Bucket>({ maxEntries: MAX_BUCKETS, entryBytes: BUCKET_BYTES });
const MINUTE_MS = 60_000;
const SHARE_MS = 100;
// A sum of fractions can be a little less than the whole, so this much less is enough.
const TOLERANCE = 1e-6;

/**
 * The token buckets of all limits. Each replica has its own buckets, and replicas that share a limit synchronize them ten
 * times a second. No request waits for the store. If the replicas together exceed a limit, the excess becomes debt.
 */
export class Limiter<Name extends string> {
  readonly table: Limits<Name>;
  readonly #clock: Clock;
  readonly #shareUsage: ShareUsage | undefined;
  readonly #buckets = new Map<string, ReturnType<typeof newKinds>>();
  /** Shared by all clients of a kind: a rule per bucket would take half as much memory again. */
  readonly #rules = new Map<string, BucketRule>();
  readonly #unshared = new Set<Bucket>();

  /** `clock` is monotonic. Without `share` this process counts for itself. */
  constructor(table: Limits<Name>, clock: Clock, share?: ShareUsage) {
    this.table = table;
    this.#clock = clock;
    this.#shareUsage = share;
  }

  get byteSize(): number {
    const all = [...this.#buckets.values()].flatMap((byKind) => [...byKind.values()]);
    return all.reduce((sum, { calculatedSize }) => sum + calculatedSize, 0);
  }

  /** Takes `points`; takes nothing if the client has less than `needed`. */
  take(name: Name, client: Client, points = 1, needed = points): Balance {
    const nowMs = this.#clock.now();
    const bucket = this.#bucketOf(name, client, nowMs);
    if (points === 0 || isTooLittle(bucket.tokens.left(nowMs), needed)) {
      return balanceOf(bucket.tokens, nowMs, needed);
    }
    this.#spendFrom(name, bucket, points, nowMs);
    return balanceOf(bucket.tokens, nowMs, needed - points);
  }

  /** Charges past usage. A negative number gives tokens back. */
  spend(name: Name, client: Client, points: number): Balance {
    const nowMs = this.#clock.now();
    const bucket = this.#bucketOf(name, client, nowMs);
    this.#spendFrom(name, bucket, points, nowMs);
    return balanceOf(bucket.tokens, nowMs, 0);
  }

  giveBack(name: Name, client: Client): void {
    this.spend(name, client, -1);
  }

  /** Moves a charge to another client, if that client has enough left. */
  move(name: Name, from: Client, to: Client): void {
    if (!this.take(name, to).isOver) this.giveBack(name, from);
  }

  #spendFrom(name: Name, bucket: Bucket, points: number, nowMs: number): void {
    bucket.tokens.take(points, nowMs);
    if (this.#shareUsage === undefined || !this.table[name].isShared) return;
    bucket.unshared += points;
    if (this.#unshared.size === 0) {
      this.#clock.after(SHARE_MS, () => fireAndForget('shared limits', this.#shareAll()));
    }
    this.#unshared.add(bucket);
  }

  #bucketOf(name: Name, client: Client, nowMs: number): Bucket {
    const { kind, key } = client;
    return this.#buckets.get(name)?.get(kind)?.get(key) ?? this.#newBucket(name, client, nowMs);
  }

  #newBucket(name: Name, { kind, key }: Client, nowMs: number): Bucket {
    const buckets = memo(memo(this.#buckets, name, newKinds), kind, newBuckets);
    return memo<string, Bucket>(buckets, key, () => {
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
    const levels = await this.#shareUsage?.(names, figures);
    for (const [index, level] of (levels ?? []).entries()) {
      const { tokens, unshared } = buckets[index] as Bucket;
      // More may have been taken since the report.
      tokens.set(level - unshared, this.#clock.now());
    }
  }
}

function isTooLittle(left: number, needed: number): boolean {
  return left + TOLERANCE < needed;
}

function balanceOf(tokens: TokenBucket, nowMs: number, needed: number): Balance {
  const { max, perMs } = tokens.rule;
  const left = tokens.left(nowMs);
  const isOver = isTooLittle(left, needed);
  const awaited = isOver ? needed : max;
  return { isOver, left, max, waitMs: (awaited - left) / perMs };
}

interface BucketRule {
  readonly max: number;
  readonly perMs: number;
  /** Bounded, because unbounded debt could last for hours. */
  readonly maxDebt: number;
}

class TokenBucket {
  readonly rule: BucketRule;
  #level: number;
  #levelAtMs: number;

  constructor(rule: BucketRule, nowMs: number) {
    this.rule = rule;
    this.#level = rule.max;
    this.#levelAtMs = nowMs;
  }

  /** A level below 0 is debt. */
  left(nowMs: number): number {
    const earned = (nowMs - this.#levelAtMs) * this.rule.perMs;
    return Math.min(this.rule.max, this.#level + earned);
  }

  /** Takes points, and returns the new level, which is debt if there were too few. Negative points are given back. */
  take(points: number, nowMs: number): number {
    return this.set(this.left(nowMs) - points, nowMs);
  }

  set(level: number, nowMs: number): number {
    this.#level = Math.max(-this.rule.maxDebt, Math.min(this.rule.max, level));
    this.#levelAtMs = nowMs;
    return this.#level;
  }
}
