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
    const bucket = this.#bucketOf(name, client);
    if (points === 0 || bucket.isShortOf(needed)) return bucket.balance(needed);
    this.#charge(name, bucket, points);
    return bucket.balance(needed - points);
  }

  /** Charges past usage. A negative number gives tokens back. */
  spend(name: Name, client: Client, points: number): Balance {
    const bucket = this.#bucketOf(name, client);
    this.#charge(name, bucket, points);
    return bucket.balance(0);
  }

  giveBack(name: Name, client: Client): void {
    this.spend(name, client, -1);
  }

  /** Moves a charge to another client, if that client has enough left. */
  move(name: Name, from: Client, to: Client): void {
    if (!this.take(name, to).isOver) this.giveBack(name, from);
  }

  #charge(name: Name, bucket: Bucket, points: number): void {
    bucket.set(bucket.level - points);
    if (this.#shareUsage === undefined || !this.table[name].isShared) return;
    bucket.unshared += points;
    if (this.#unshared.size === 0) {
      this.#clock.after(SHARE_MS, () => fireAndForget('shared limits', this.#shareAll()));
    }
    this.#unshared.add(bucket);
  }

  /** The client's bucket, refilled up to now. */
  #bucketOf(name: Name, { kind, key }: Client): Bucket {
    const nowMs = this.#clock.now();
    const known = this.#buckets.get(name)?.get(kind)?.get(key);
    if (known !== undefined) {
      known.refill(nowMs);
      return known;
    }
    const buckets = memo(memo(this.#buckets, name, newKinds), kind, newBuckets);
    const rule = memo(this.#rules, `${name} ${kind}`, () => this.#ruleOf(name, kind));
    const bucket = new Bucket(`${name} ${key}`, rule, nowMs);
    buckets.set(key, bucket);
    return bucket;
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
    const figures = buckets.flatMap(({ rule, unshared }) => [rule.max, rule.perMs, unshared]);
    for (const bucket of buckets) bucket.unshared = 0;
    const names = buckets.map(({ name }) => name);
    const levels = await this.#shareUsage?.(names, figures);
    for (const [index, level] of (levels ?? []).entries()) {
      const bucket = buckets[index] as Bucket;
      bucket.refill(this.#clock.now());
      // More may have been taken since the report.
      bucket.set(level - bucket.unshared);
    }
  }
}

interface BucketRule {
  readonly max: number;
  readonly perMs: number;
  /** Bounded, because unbounded debt could last for hours. */
  readonly maxDebt: number;
}

/** A token bucket. */
class Bucket {
  readonly name: string;
  readonly rule: BucketRule;
  /** Usage that was not reported to the other replicas yet. */
  unshared = 0;
  /** A level below 0 is debt. */
  level: number;
  #refilledAtMs: number;

  constructor(name: string, rule: BucketRule, nowMs: number) {
    this.name = name;
    this.rule = rule;
    this.level = rule.max;
    this.#refilledAtMs = nowMs;
  }

  refill(nowMs: number): void {
    const { max, perMs } = this.rule;
    this.level = Math.min(max, this.level + (nowMs - this.#refilledAtMs) * perMs);
    this.#refilledAtMs = nowMs;
  }

  set(level: number): void {
    this.level = Math.max(-this.rule.maxDebt, Math.min(this.rule.max, level));
  }

  isShortOf(needed: number): boolean {
    return this.level + TOLERANCE < needed;
  }

  balance(needed: number): Balance {
    const { max, perMs } = this.rule;
    const isOver = this.isShortOf(needed);
    const awaited = isOver ? needed : max;
    return { isOver, left: this.level, max, waitMs: (awaited - this.level) / perMs };
  }
}
