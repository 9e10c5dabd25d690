import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';

/**
 * Limits the fields of a client's events in a minute. Beyond that an event waits until what was reserved before it is
 * earned, and later ones are merged behind it.
 */
export class EventPace {
  readonly #limiter: Limiter;
  readonly #clock: Clock;

  constructor(limiter: Limiter, clock: Clock) {
    this.#limiter = limiter;
    this.#clock = clock;
  }

  /**
   * Reserves the expected fields of an event. Null means that it may go; otherwise resolves with
   * the time waited. An event whose subscription ends meanwhile waits no longer, and has no fields.
   */
  admit(client: Client, fields: number, ending?: AbortSignal): Promise<number> | null {
    if (this.#limiter.take('events', client, 0).isOver) return this.#wait(client, fields, ending);
    this.#limiter.spend('events', client, fields);
    return null;
  }

  /** Replaces the reservation with the number of fields that the event had. */
  settle(client: Client, reserved: number, fields: number): void {
    this.#limiter.spend('events', client, fields - reserved);
  }

  /** In the line of its token first: before that it takes nothing from the other tokens of its account. */
  async #wait(client: Client, fields: number, ending?: AbortSignal): Promise<number> {
    const sinceMs = this.#clock.now();
    for (const [at, part] of client.parts.entries()) {
      const share: Client = { ...client, parts: [part] };
      const { isOver, waitMs } = this.#limiter.take('events', share, 0);
      this.#limiter.spend('events', share, fields);
      if (isOver) await this.#pause(waitMs, ending);
      if (!ending?.aborted) continue;
      const reserved = { ...client, parts: client.parts.slice(0, at + 1) };
      this.#limiter.spend('events', reserved, -fields);
      break;
    }
    return this.#clock.now() - sinceMs;
  }

  #pause(ms: number, ending?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = () => resolve();
    const cancel = this.#clock.after(Math.ceil(ms), go);
    if (ending?.aborted) go();
    else ending?.addEventListener('abort', go);
    return promise.finally(() => {
      cancel();
      ending?.removeEventListener('abort', go);
    });
  }
}
