import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { CallOutcome } from './caller.ts';
import { byOperation, OPERATION_NAMES, type OperationName } from './operations.ts';
import { Speed } from './speed.ts';

export interface SlowOperationsOptions {
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
