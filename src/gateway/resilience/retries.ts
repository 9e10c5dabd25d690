import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { isWorthRepeating, wasNotAttempted } from '../classify.ts';
import type { Send, WireCall } from '../exchange.ts';
import { retryAfterSeconds } from '../judge.ts';
import type { Backend } from '../operation.ts';

interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly budgets: ReadonlyMap<Backend, RetryBudget>;
}

const RETRIES = 2;
const BASE_MS = 100;
const MAX_MS = 1_000;
// With less time left a retry would only turn an answer into a time-out.
const MIN_ATTEMPT_MS = 50;

/** Retries reads that may succeed a moment later, within the one deadline of the call. */
export function withRetries(send: Send, { clock, random, budgets }: RetryOptions): Send {
  return async (call) => {
    const budget = isRetried(call) ? budgets.get(call.row.backend) : undefined;
    if (budget === undefined) return send(call);
    const endsAtMs = clock.now() + call.deadlineMs;
    let exchange = await send(call);
    if (!wasNotAttempted(exchange)) budget.called();
    for (let retry = 0; retry < RETRIES && isWorthRepeating(call, exchange); retry += 1) {
      const asked = exchange.sent && exchange.answered ? retryAfterSeconds(exchange) : null;
      const restMs = backoffMs(retry, { baseMs: BASE_MS, maxMs: MAX_MS, random }, asked);
      if (clock.now() + restMs + MIN_ATTEMPT_MS > endsAtMs || !budget.take()) break;
      await pause(clock, restMs, call.signal);
      const deadlineMs = endsAtMs - clock.now();
      const isOver = call.signal?.aborted === true || deadlineMs <= 0;
      const next = isOver ? null : await send({ ...call, deadlineMs, resends: retry + 1 });
      if (next === null || wasNotAttempted(next)) {
        // Nothing was sent, so the gateway's last answer still counts.
        budget.giveBack();
        break;
      }
      exchange = next;
    }
    return exchange;
  };
}

/** An idempotent write may be harmless to retry, but its sender decides that. A feed polls again anyway. */
function isRetried({ row, caller }: WireCall): boolean {
  return row.effect === 'read' && caller.priority !== 'poll';
}

/** The budget that each call adds. */
const SHARE = 0.1;
/** The maximum number of saved retries. */
const MAX_KEPT = 10;

/** Limits retries to a tenth of the calls: repeating all of them would triple the load when the gateway can bear it least. */
export class RetryBudget {
  #left = MAX_KEPT;

  /** Counts the first attempt of a call. */
  called(): void {
    this.#left = Math.min(MAX_KEPT, this.#left + SHARE);
  }

  /** Spends one retry; returns false if the budget has none. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Refunds a retry that did not happen. */
  giveBack(): void {
    this.#left += 1;
  }
}
