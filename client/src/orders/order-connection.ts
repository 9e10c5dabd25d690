import type { Core } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import type { Exchanger } from '../request/exchange.ts';
import { isLate } from '../request/failures.ts';
import { PING } from '../request/ping.ts';
import { freshSocket } from './fresh-socket.ts';

type Task<T> = (time: Deadline, exchange: Exchanger | undefined) => Promise<T>;

/**
 * Chooses the connection of an order's requests: that of `fetch`, or a new WebSocket for one request after the connection of
 * `fetch` was found dead.
 */
export class OrderConnection {
  readonly #core: Core;
  #isDead = false;
  #error: TradingGraphError | null = null;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Runs a task within a time, which ends early if the connection turns out to be dead. */
  run<T>(ms: number, parent: AbortSignal, task: Task<T>): Promise<T> {
    const { environment } = this.#core;
    const exchange = this.#isDead ? freshSocket(environment) : undefined;
    this.#isDead = false;
    return withinTime(environment, ms, parent, async (time) => {
      // A slow connection is kept if there is no WebSocket, because no other connection is possible.
      const isWatched = exchange === undefined && environment.WebSocket != null;
      const cancel = isWatched ? this.#watch(ms, time) : () => {};
      try {
        return await task(time, exchange);
      } finally {
        cancel();
        time.end();
      }
    });
  }

  /** Why the connection was found dead, if the platform knows more than a time-out. A second call returns null. */
  takeError(): TradingGraphError | null {
    const error = this.#error;
    this.#error = null;
    return error;
  }

  /**
   * Sends a ping if there is no answer for a while. If only the gateway is slow, the ping is answered. The check takes at
   * most half of the time, so that the other half is left for another connection.
   */
  #watch(ms: number, time: Deadline): () => void {
    const checkMs = Math.min(this.#core.serverClock.doubtMs, ms / 2);
    // The first half is for an answer of the task, the second for that of the ping.
    const halfMs = checkMs / 2;
    return this.#core.environment.after(halfMs, () => fireAndForget(this.#ping(halfMs, time)));
  }

  async #ping(ms: number, time: Deadline): Promise<void> {
    const { environment, request, serverClock } = this.#core;
    let hasLeft = false;
    const leaving = () => {
      hasLeft = true;
    };
    const { errors } = await withinTime(environment, ms, time.signal, ({ signal }) =>
      request(PING, {}, { repeats: false, signal, leaving }),
    );
    const error = errors.find(isOfConnection);
    if (time.signal.aborted || !hasLeft || error === undefined) return;
    serverClock.onDead();
    this.#isDead = true;
    if (error.code === 'NETWORK' && !isLate(error)) this.#error = error;
    time.end();
  }
}

/** Whether the error means that no answer arrived. A proxy's answer in place of the server's shows a working connection. */
function isOfConnection({ code, cause }: TradingGraphError): boolean {
  return code === 'ABORTED' || (code === 'NETWORK' && cause !== undefined);
}
