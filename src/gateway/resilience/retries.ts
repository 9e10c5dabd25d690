import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { isWorthRepeating, wasNotAttempted } from '../classify.ts';
import { type Exchange, exchanged, type Send, type WireCall } from '../exchange.ts';
import { retryAfterSeconds } from '../judge.ts';
import type { Backend } from '../operation.ts';
import { createRollingWindow } from './rolling-window.ts';

interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly budgets: ReadonlyMap<Backend, RetryBudget>;
  readonly onRetry: (call: WireCall) => void;
}

const RETRIES = 2;
const BASE_MS = 100;
const MAX_MS = 1_000;
// With less than this left a retry could only turn an answer into a time-out.
const MIN_ATTEMPT_MS = 50;

/** Retries reads that may succeed a moment later, all within the one deadline of the call. */
export function withRetries(send: Send, { clock, random, budgets, onRetry }: RetryOptions): Send {
  async function repeated(
    call: WireCall,
    first: Exchange,
    budget: RetryBudget,
    endsAtMs: number,
  ): Promise<Exchange> {
    let exchange = first;
    for (let retry = 0; retry < RETRIES && isWorthRepeating(call, exchange); retry += 1) {
      const asked = exchange.sent && exchange.answered ? retryAfterSeconds(exchange) : null;
      const restMs = backoffMs(retry, { baseMs: BASE_MS, maxMs: MAX_MS, random }, asked);
      if (clock.now() + restMs + MIN_ATTEMPT_MS > endsAtMs || !budget.take()) break;
      await pause(clock, restMs, call.signal);
      const deadlineMs = endsAtMs - clock.now();
      const next =
        call.signal?.aborted || deadlineMs <= 0
          ? null
          : await exchanged(send, { ...call, deadlineMs, resends: retry + 1 });
      if (next === null || wasNotAttempted(next)) {
        // Nothing was sent, so the gateway's last answer still counts.
        budget.giveBack();
        break;
      }
      onRetry(call);
      exchange = next;
    }
    return exchange;
  }

  return (call, end) => {
    const { effect, backend } = call.row;
    // An idempotent write may be harmless to retry, but that is for its sender to decide. A feed polls again anyway.
    const isRetried = effect === 'read' && call.caller.priority !== 'poll';
    const budget = isRetried ? budgets.get(backend) : undefined;
    if (budget === undefined) return send(call, end);
    const endsAtMs = clock.now() + call.deadlineMs;
    send(call, (exchange) => {
      if (!wasNotAttempted(exchange)) budget.called();
      if (!isWorthRepeating(call, exchange)) end(exchange);
      else repeated(call, exchange, budget, endsAtMs).then(end, () => end(exchange));
    });
  };
}

const WINDOW_MS = 60_000;
const SLICES = 12;
/** The share of the calls within the window. */
const SHARE = 0.1;
/** Allowed within the window even where there are hardly any calls. */
const FLOOR = 10;

/** Bounds retries to a share of the latest calls: all of them would triple the load when a gateway can bear it least. */
export class RetryBudget {
  readonly #window: ReturnType<typeof createWindow>;

  constructor(clock: Clock) {
    this.#window = createWindow(clock);
  }

  /** Counts the first attempt of a call. */
  called(): void {
    this.#window.current().calls += 1;
  }

  /** Returns true where one retry is paid for. */
  take(): boolean {
    let [calls, retries] = [0, 0];
    for (const slice of this.#window.slices()) {
      calls += slice.calls;
      retries += slice.retries;
    }
    // The floor is not added to the share, or at no volume would the share be kept.
    if (retries >= Math.max(FLOOR, Math.floor(calls * SHARE))) return false;
    this.#window.current().retries += 1;
    return true;
  }

  /** Refunds a retry that did not happen. */
  giveBack(): void {
    this.#window.current().retries -= 1;
  }
}

function createWindow(clock: Clock) {
  const create = () => ({ calls: 0, retries: 0 });
  return createRollingWindow({ clock, spanMs: WINDOW_MS, slices: SLICES, create });
}
