import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { CallOutcome } from './caller.ts';
import { byOperation, OPERATION_NAMES, type OperationName } from './operations.ts';

interface SlowOperationsOptions {
  /** A monotonic clock. */
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** A sixth of what counts as now. */
  readonly sliceMs?: number;
}

const SLICE_MS = 10_000;
// Longer gaps than the hour leave nothing to remember.
const MOST_TURNS = 400;

/**
 * Sees an operation whose median has grown threefold against its own past hour. No fixed threshold fits both an
 * operation that takes a second by nature and one that takes ten milliseconds.
 */
export class SlowOperations {
  readonly #clock: Clock;
  readonly #log: SlowOperationsOptions['log'];
  readonly #sliceMs: number;
  readonly #speeds = byOperation(() => new Speed());
  readonly #slowSinceMs = new Map<OperationName, number>();
  #turnsAtMs: number;

  constructor({ clock, log, sliceMs = SLICE_MS }: SlowOperationsOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#sliceMs = sliceMs;
    this.#turnsAtMs = clock.now() + sliceMs;
  }

  /** Called with each call that went onto the wire. A failure that comes at once is not quick. */
  saw(operation: OperationName, outcome: CallOutcome, ms: number, endedAtMs: number): void {
    this.#turn(endedAtMs);
    if (outcome === 'ok' || outcome === 'timeout') this.#speeds[operation].add(ms);
  }

  isSlow(operation: OperationName): boolean {
    this.#turn();
    return this.#speeds[operation].slowdown !== null;
  }

  /** In milliseconds; null where there were too few calls to tell. */
  median(operation: OperationName, over: 'minute' | 'hour'): number | null {
    this.#turn();
    const { now, usual } = this.#speeds[operation];
    return over === 'minute' ? now : usual;
  }

  degradedReason(): string | null {
    this.#turn();
    const details = OPERATION_NAMES.flatMap((operation) => {
      const { slowdown } = this.#speeds[operation];
      if (slowdown === null) return [];
      return [`${operation}: ${slowdown.medianMs} ms, usually ${slowdown.usualMs} ms`];
    });
    return details.length === 0 ? null : `slow operations of the gateway: ${details.join(', ')}`;
  }

  #turn(nowMs: number = this.#clock.now()): void {
    if (nowMs < this.#turnsAtMs) return;
    const turns = Math.floor((nowMs - this.#turnsAtMs) / this.#sliceMs) + 1;
    this.#turnsAtMs += turns * this.#sliceMs;
    for (const operation of OPERATION_NAMES) {
      const speed = this.#speeds[operation];
      for (let turn = 0; turn < Math.min(turns, MOST_TURNS); turn += 1) speed.turn();
      this.#judge(operation, speed, nowMs);
    }
  }

  #judge(operation: OperationName, speed: Speed, nowMs: number): void {
    const sinceMs = this.#slowSinceMs.get(operation);
    const { slowdown } = speed;
    if (slowdown !== null) {
      if (sinceMs !== undefined) return;
      this.#slowSinceMs.set(operation, nowMs);
      this.#log.warn({ operation, ...slowdown }, 'an operation of the gateway is slow');
    } else if (sinceMs !== undefined) {
      this.#slowSinceMs.delete(operation);
      const seconds = Math.round((nowMs - sinceMs) / 1000);
      this.#log.info({ operation, seconds }, 'an operation of the gateway is slow no more');
    }
  }
}

const RECENT_SLICES = 6;
/** Of the hour, each as long as `SLICES_AN_AGE` slices. */
const AGES = 12;
const SLICES_AN_AGE = 30;
// A fifth wide each, from a quarter of a millisecond to a minute.
const BUCKETS = 72;
const BUCKETS_AN_OCTAVE = 4;
const FIRST_OCTAVE = -2;

const LEAST_RECENT = 10;
const LEAST_USUAL = 30;
// Less than three, since either median may be off by a bucket: a threefold one is never missed.
const SLOWER = 2.5;
const STILL_SLOWER = 2;
const LEAST_MORE_MS = 50;

/** In milliseconds. */
interface Slowdown {
  readonly medianMs: number;
  readonly usualMs: number;
}

/** Calls by how long they took. */
class Calls {
  readonly #buckets = new Uint32Array(BUCKETS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    const at = Math.floor((Math.log2(ms) - FIRST_OCTAVE) * BUCKETS_AN_OCTAVE);
    const bucket = Math.min(BUCKETS - 1, Math.max(0, at));
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
    this.#count += 1;
  }

  addAll(others: Calls): void {
    if (others.#count === 0) return;
    for (let at = 0; at < BUCKETS; at += 1) {
      this.#buckets[at] = (this.#buckets[at] as number) + (others.#buckets[at] as number);
    }
    this.#count += others.#count;
  }

  clear(): void {
    this.#buckets.fill(0);
    this.#count = 0;
  }

  /** In milliseconds. */
  median(): number {
    let seen = 0;
    const bucket = this.#buckets.findIndex((count) => {
      seen += count;
      return seen * 2 >= this.#count;
    });
    return 2 ** ((bucket + 0.5) / BUCKETS_AN_OCTAVE + FIRST_OCTAVE);
  }
}

/** How long the calls of one operation take: in the last minute, and in the hour before. */
class Speed {
  readonly #recent = Array.from({ length: RECENT_SLICES }, () => new Calls());
  readonly #ages = Array.from({ length: AGES }, () => new Calls());
  #turns = 0;
  #current = this.#recent[0] as Calls;
  #slowdown: Slowdown | null = null;
  #now: number | null = null;
  #usual: number | null = null;

  /** The medians in milliseconds as of the last turn; null: too few calls. */
  get now(): number | null {
    return this.#now;
  }

  get usual(): number | null {
    return this.#usual;
  }

  /** Null where it is about as quick as usual. */
  get slowdown(): Slowdown | null {
    return this.#slowdown;
  }

  add(ms: number): void {
    this.#current.add(ms);
  }

  /** Begins the next slice. */
  turn(): void {
    this.#now = median(this.#recent, LEAST_RECENT);
    this.#usual = median(this.#ages, LEAST_USUAL);
    const factor = this.#slowdown === null ? SLOWER : STILL_SLOWER;
    this.#slowdown = slowdownOf(this.#now, this.#usual, factor);
    this.#turns += 1;
    const age = this.#ages[Math.floor(this.#turns / SLICES_AN_AGE) % AGES] as Calls;
    if (this.#turns % SLICES_AN_AGE === 0) age.clear();
    this.#current = this.#recent[this.#turns % RECENT_SLICES] as Calls;
    // Slow calls are not the usual ones: while they last the hour forgets, and learns nothing.
    if (this.#slowdown === null) age.addAll(this.#current);
    this.#current.clear();
  }
}

function slowdownOf(now: number | null, usual: number | null, factor: number): Slowdown | null {
  if (now === null || usual === null) return null;
  if (now < factor * usual || now - usual < LEAST_MORE_MS) return null;
  return { medianMs: Math.round(now), usualMs: Math.round(usual) };
}

/** In milliseconds; null for fewer than `least`. */
function median(slices: readonly Calls[], least: number): number | null {
  // Mostly so: after an idle hour each slice of it is judged at once.
  if (slices.reduce((sum, { count }) => sum + count, 0) < least) return null;
  const all = new Calls();
  for (const slice of slices) all.addAll(slice);
  return all.median();
}
