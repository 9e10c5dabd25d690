import type { Clock } from '../../lib/clock.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';

export class PollsBusyError extends NotAttemptedError {
  override readonly name = 'PollsBusyError';

  constructor() {
    super('the connections that polls may use were taken for as long as this one could wait');
  }
}

/** Bounds the connections that polls hold; a poll that finds none free waits in a FIFO queue. */
export class PollBulkhead {
  readonly #clock: Clock;
  readonly #width: number;
  readonly #line = new Set<() => void>();
  #taken = 0;

  constructor(clock: Clock, width: number) {
    this.#clock = clock;
    this.#width = width;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** Resolves to false where none came free in time: then there is nothing to leave. */
  enter(timeoutMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#taken < this.#width) {
      this.#taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const end = (hasPlace: boolean) => {
        this.#line.delete(next);
        cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(hasPlace);
      };
      const next = () => end(true);
      const giveUp = () => end(false);
      const cancel = this.#clock.after(timeoutMs, giveUp);
      signal?.addEventListener('abort', giveUp);
      this.#line.add(next);
    });
  }

  leave(): void {
    const [next] = this.#line;
    // The place passes to the next poll without coming free in between.
    if (next) next();
    else this.#taken -= 1;
  }
}

/** A bulkhead: the feeds' polls never take every connection from requests that a client waits for. */
export function withPollBulkhead(send: Send, bulkhead: PollBulkhead, clock: Clock): Send {
  async function sendPoll(call: WireCall): Promise<Exchange> {
    const endsAtMs = clock.now() + call.deadlineMs;
    if (!(await bulkhead.enter(call.deadlineMs, call.caller.signal))) {
      return { sent: false, cause: new PollsBusyError() };
    }
    try {
      return await send({ ...call, deadlineMs: Math.max(1, endsAtMs - clock.now()) });
    } finally {
      bulkhead.leave();
    }
  }
  return (call) => (call.caller.priority === 'poll' ? sendPoll(call) : send(call));
}
