import { type Clock, pause } from '../../lib/clock.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type { EngineLimiter } from '../operation/limits.ts';

export type EventPace = ReturnType<typeof createEventPace>;

/** Limits the fields of a client's events in a minute: beyond that an event waits, and later ones merge behind it. */
export function createEventPace(limiter: EngineLimiter, clock: Clock) {
  /** An event waits in the line of its token first: before that it takes nothing from the other tokens of its account. */
  async function wait(client: Client, fields: number, ending?: AbortSignal): Promise<number> {
    const sinceMs = clock.now();
    const isLent = limiter.isLent('events', client);
    for (const [at, part] of client.parts.entries()) {
      const share: Client = { ...client, parts: [part] };
      const { isOver, waitMs } = limiter.take('events', share, 0);
      limiter.spend('events', share, fields);
      if (isOver && !(isLent && at === 0)) await pause(clock, waitMs, ending);
      if (!ending?.aborted) continue;
      limiter.spend('events', { ...client, parts: client.parts.slice(0, at + 1) }, -fields);
      break;
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
