import type { Environment } from '../environment.ts';

// Timers stand still while a machine sleeps, so that a single long one would find a dead line late.
const CHECK_MS = 10_000;

/** Says when nothing has been heard for too long. */
export class SilenceWatch {
  readonly #environment: Environment;
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #heardAtMs = 0;
  #heardAtUptimeMs = 0;
  #cancel: (() => void) | null = null;

  constructor(environment: Environment, limitMs: number, onSilence: () => void) {
    this.#environment = environment;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  start(): void {
    this.heard();
    if (this.#cancel === null) this.#checkLater();
  }

  heard(): void {
    this.#heardAtMs = this.#environment.now();
    this.#heardAtUptimeMs = this.#environment.uptime();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  get isWatching(): boolean {
    return this.#cancel !== null;
  }

  /** How long nothing has been heard. */
  get silentMs(): number {
    const environment = this.#environment;
    // One clock may have been set back, the other may have stood still: the longer time is the safe one.
    return Math.max(
      environment.now() - this.#heardAtMs,
      environment.uptime() - this.#heardAtUptimeMs,
    );
  }

  #checkLater(): void {
    const leftMs = this.#limitMs - this.silentMs;
    this.#cancel = this.#environment.after(Math.min(Math.max(leftMs, 0), CHECK_MS), () => {
      if (this.silentMs >= this.#limitMs) {
        this.#cancel = null;
        this.#onSilence();
      } else this.#checkLater();
    });
  }
}
