import type { Environment } from '../environment.ts';

export interface WatchdogOptions {
  readonly environment: Environment;
  /** The longest time between two events, as agreed with the server. */
  readonly heartbeatMs: number;
  /** Sends a ping. */
  readonly ask: () => void;
  readonly onDead: () => void;
}

/** How long after an overdue heartbeat a ping is sent. */
const LATE_MS = 5_000;
/** The time for the answer to a ping. */
const ANSWER_MS = 5_000;
/** The shortest silence after which a lively connection gets a ping. */
const SOON_MS = 5_000;
// After a return to the app a heartbeat may be this late, because events take different times to arrive.
const OVERDUE_MS = 1_000;
// Timers stand still while a machine sleeps, so that a single long timer would find a dead transport late.
const CHECK_MS = 5_000;

/**
 * Notices a dead transport, because a platform may never report a lost connection. A ping is sent after a silence of four
 * times the last pause, but not before 5 s, and at the latest 5 s after an overdue heartbeat.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #receivedAtMs = 0;
  #lastPauseMs = Number.POSITIVE_INFINITY;
  #receivedAtUptimeMs = 0;
  #isAnswered = false;
  #cancel: () => void = () => {};

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.received();
    this.#wait();
  }

  received(): void {
    const { environment } = this.#options;
    this.#lastPauseMs = this.#silentMs;
    this.#receivedAtMs = environment.now();
    this.#receivedAtUptimeMs = environment.uptime();
    this.#isAnswered = true;
  }

  /** Sends a ping at once, for example after a return. Returns false, and sends nothing, if a heartbeat is overdue. */
  check(): boolean {
    if (this.#silentMs > this.#options.heartbeatMs + OVERDUE_MS) return false;
    this.#ping();
    return true;
  }

  stop(): void {
    this.#cancel();
  }

  get #silentMs(): number {
    const { environment } = this.#options;
    // One clock may have been set back, the other may have stood still: the longer time is the safe one.
    return Math.max(
      environment.now() - this.#receivedAtMs,
      environment.uptime() - this.#receivedAtUptimeMs,
    );
  }

  /** The silence after which a ping is sent. */
  get #patienceMs(): number {
    const { heartbeatMs } = this.#options;
    return Math.min(heartbeatMs + LATE_MS, Math.max(SOON_MS, 4 * this.#lastPauseMs));
  }

  /** Sends a ping. If nothing arrives in the time for its answer, which begins now, the transport is dead. */
  #ping(): void {
    const { environment, ask, onDead } = this.#options;
    this.#cancel();
    this.#isAnswered = false;
    this.#cancel = environment.after(ANSWER_MS, () => {
      if (this.#isAnswered) this.#wait();
      else onDead();
    });
    ask();
  }

  #wait(): void {
    const leftMs = this.#patienceMs - this.#silentMs;
    this.#cancel = this.#options.environment.after(Math.min(Math.max(leftMs, 0), CHECK_MS), () => {
      if (this.#silentMs >= this.#patienceMs) this.#ping();
      else this.#wait();
    });
  }
}
