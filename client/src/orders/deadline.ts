import type { Environment } from '../environment.ts';
import { TradingGraphError } from '../errors.ts';

const LONGEST_MS = 2 ** 31 - 1;
const OVER = Symbol('over');

/** The time within which something is tried, ended earlier by a parent's end. Has to be closed. */
export class Deadline {
  readonly #environment: Environment;
  readonly #ms: number;
  readonly #startedAt: number;
  readonly #startedUp: number;
  readonly #controller = new AbortController();
  readonly #over: Promise<typeof OVER>;
  readonly #cancelTimer: () => void;
  readonly #parent: AbortSignal | undefined;
  readonly #end = (): void => this.#controller.abort();

  constructor(environment: Environment, ms: number, parent?: AbortSignal) {
    this.#environment = environment;
    this.#ms = Math.min(Math.max(ms, 0), LONGEST_MS);
    this.#startedAt = environment.now();
    this.#startedUp = environment.uptime();
    this.#over = new Promise((resolve) => {
      this.#controller.signal.addEventListener('abort', () => resolve(OVER), { once: true });
    });
    this.#cancelTimer = environment.after(this.#ms, this.#end);
    this.#parent = parent;
    parent?.addEventListener('abort', this.#end, { once: true });
    if (parent?.aborted) this.#end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** By the clock on the wall as well: timers stand still while a phone sleeps, and an order must not be sent hours later. */
  get remainingMs(): number {
    if (this.signal.aborted) return 0;
    const { now, uptime } = this.#elapsed();
    return Math.max(0, this.#ms - Math.max(now, uptime));
  }

  get isOver(): boolean {
    return this.remainingMs === 0;
  }

  /** Rejects with a TradingGraphError where the time is over first; what comes later is dropped. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const first = await Promise.race([promise, this.#over]);
    if (first !== OVER) return first;
    throw new TradingGraphError('No answer came in time.', { code: 'NETWORK', retryable: true });
  }

  async sleep(ms: number): Promise<void> {
    let cancel = () => {};
    const awake = new Promise<void>((resolve) => {
      cancel = this.#environment.after(ms, resolve);
    });
    await Promise.race([awake, this.#over]);
    cancel();
  }

  close(): void {
    this.#cancelTimer();
    this.#parent?.removeEventListener('abort', this.#end);
  }

  #elapsed(): { now: number; uptime: number } {
    return {
      now: this.#environment.now() - this.#startedAt,
      uptime: this.#environment.uptime() - this.#startedUp,
    };
  }
}
