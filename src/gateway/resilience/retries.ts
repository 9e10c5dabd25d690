import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import { isWorthRepeating, retryAfterSeconds } from '../judge.ts';

const MAX_RETRIES = 2;
const BASE_MS = 100;
const MAX_MS = 1_000;
// With less time left a retry would only turn an answer into a time-out.
const MIN_ATTEMPT_MS = 50;
/** The part of a retry that each call adds to the budget. */
const SHARE = 0.1;
const MAX_BUDGET = 10;

/**
 * Repeats the reads of one area that may succeed a moment later. Retries are at most a tenth of the calls: repeating all of
 * them would triple the load when the gateway can bear it least.
 */
export class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  /** The number of retries that may be sent now. */
  #budget = MAX_BUDGET;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Retries reads only: the sender of a write decides whether a retry is harmless. A feed polls again anyway. */
  send(call: WireCall, attempt: Send): Promise<Exchange> {
    const isRetried = call.operation.effect === 'read' && call.caller.priority !== 'poll';
    return isRetried ? this.#sendRetried(call, attempt) : attempt(call);
  }

  /** All attempts share the call's deadline. */
  async #sendRetried(call: WireCall, attempt: Send): Promise<Exchange> {
    const endsAtMs = this.#clock.now() + call.deadlineMs;
    this.#budget = Math.min(MAX_BUDGET, this.#budget + SHARE);
    let last = await attempt(call);
    let result = last;
    for (let resends = 1; resends <= MAX_RETRIES; resends += 1) {
      if (!isWorthRepeating(call, last)) break;
      const pauseMs = this.#pauseMs(last, resends);
      const isTooLate = this.#clock.now() + pauseMs + MIN_ATTEMPT_MS > endsAtMs;
      if (isTooLate || this.#budget < 1) break;
      this.#budget -= 1;
      await pause(this.#clock, pauseMs, call.signal);
      const deadlineMs = endsAtMs - this.#clock.now();
      if (call.signal?.aborted || deadlineMs <= 0) break;
      last = await attempt({ ...call, deadlineMs, resends });
      // A retry that was not sent is not the result, because the earlier answer may say when to ask again.
      if (last.sent || !result.sent) result = last;
    }
    return result;
  }

  #pauseMs(failed: Exchange, resends: number): number {
    const retryAfter = failed.sent && failed.answered ? retryAfterSeconds(failed) : null;
    const options = { baseMs: BASE_MS, maxMs: MAX_MS, random: this.#random };
    return backoffMs(resends - 1, options, retryAfter);
  }
}
