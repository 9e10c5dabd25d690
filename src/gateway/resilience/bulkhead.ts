import type { Clock } from '../../lib/clock.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import { OPERATIONS } from '../operations.ts';

export class BulkheadFullError extends NotAttemptedError {
  override readonly name = 'BulkheadFullError';

  constructor() {
    super('the connections that calls of its kind may use were taken for as long as it could wait');
  }
}

/** Bounds the connections that calls of one kind hold; one that finds none free waits in a FIFO queue. */
export class Bulkhead {
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
    // The place passes to the next call without coming free in between.
    if (next) next();
    else this.#taken -= 1;
  }
}

export interface Bulkheads {
  /** Of the feeds' polls, so that they never take every connection for reads. */
  readonly polls: Bulkhead;
  /** Of calls without a token, so that sign-ins that hang leave payments their connections. */
  readonly anonymous: Bulkhead;
}

export function withBulkheads(send: Send, { polls, anonymous }: Bulkheads, clock: Clock): Send {
  function bulkheadOf({ operation, caller }: WireCall): Bulkhead | null {
    if (caller.priority === 'poll') return polls;
    return caller.token === null && OPERATIONS[operation].area === 'rest' ? anonymous : null;
  }

  async function sendWithin(bulkhead: Bulkhead, call: WireCall): Promise<Exchange> {
    const endsAtMs = clock.now() + call.deadlineMs;
    if (!(await bulkhead.enter(call.deadlineMs, call.caller.signal))) {
      return { sent: false, cause: new BulkheadFullError() };
    }
    try {
      return await send({ ...call, deadlineMs: Math.max(1, endsAtMs - clock.now()) });
    } finally {
      bulkhead.leave();
    }
  }

  return (call) => {
    const bulkhead = bulkheadOf(call);
    return bulkhead === null ? send(call) : sendWithin(bulkhead, call);
  };
}
