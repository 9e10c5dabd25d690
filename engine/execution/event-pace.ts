import { type Clock, pause } from '../../lib/clock.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type { EngineLimiter } from '../operation/limits.ts';

export type EventPace = ReturnType<typeof createEventPace>;

/** Limits the fields of a client's events in a minute: beyond that an event waits, and later ones merge behind it. */
export function createEventPace(limiter: EngineLimiter, clock: Clock) {
  /** Nothing is taken for an event that waits, so that one whose subscription ends gives nothing back. */
  async function wait(client: Client, fields: number, ending?: AbortSignal): Promise<number> {
    const sinceMs = clock.now();
    let { isOver, waitMs } = limiter.take('events', client, 0);
    while (isOver && !ending?.aborted) {
      await pause(clock, waitMs, ending);
      if (!ending?.aborted) ({ isOver, waitMs } = limiter.take('events', client, fields, 0));
    }
    return clock.now() - sinceMs;
  }

  return {
    /**
     * Reserves the expected fields of an event. Null means that it may go; otherwise resolves with
     * the time waited. An event whose subscription ends meanwhile waits no longer, and has no fields.
     */
    admit(
      client: Client,
      fields: number,
      events?: Pick<PullStream<unknown>, 'ending'>,
    ): Promise<number> | null {
      return limiter.take('events', client, fields, 0).isOver
        ? wait(client, fields, events?.ending)
        : null;
    },
    /** Replaces the reservation with the number of fields that the event had. */
    settle(client: Client, reserved: number, fields: number): void {
      if (fields !== reserved) limiter.spend('events', client, fields - reserved);
    },
  };
}
