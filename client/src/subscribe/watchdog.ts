import type { Environment } from '../environment.ts';

export interface WatchdogOptions {
  readonly environment: Environment;
  /** The silence after which the line is asked for a sign of life. */
  readonly silenceMs: number;
  /** The time it has for that. */
  readonly answerMs: number;
  /** Asks for a sign of life. */
  readonly ask: () => void;
  readonly onDead: () => void;
}

/**
 * Notices a dead line: a platform may never say that a connection is gone. Each wait begins anew with its timer, so that a
 * line is not taken for dead because the machine slept.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #lastHeardAt: number;
  #cancel: () => void = () => {};

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#lastHeardAt = options.environment.uptime();
    this.#wait(options.silenceMs);
  }

  heard(): void {
    this.#lastHeardAt = this.#options.environment.uptime();
  }

  /** Asks at once. */
  check(): void {
    const { environment, answerMs, ask, onDead } = this.#options;
    this.#cancel();
    const askedAt = environment.uptime();
    this.#cancel = environment.after(answerMs, () => {
      if (this.#lastHeardAt > askedAt) this.#wait(this.#options.silenceMs);
      else onDead();
    });
    ask();
  }

  stop(): void {
    this.#cancel();
  }

  #wait(ms: number): void {
    const { environment, silenceMs } = this.#options;
    this.#cancel = environment.after(ms, () => {
      const leftMs = silenceMs - (environment.uptime() - this.#lastHeardAt);
      if (leftMs > 0) this.#wait(leftMs);
      else this.check();
    });
  }
}
