import { backoffMs } from '../../lib/backoff.ts';
import { type Clock, pause, systemClock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Exchange, ObserveCall, Send, WireCall } from '../exchange.ts';
import { NotAttemptedError } from '../gateway-error.ts';
import { callOutcome, codeOf, healthShown, isWorthRepeating, retryAfterSeconds } from '../judge.ts';
import type { Area, OperationTraits } from '../operation-traits.ts';
import { Bulkhead, entryOf } from './bulkhead.ts';
import { CircuitBreaker, ORDERS, type Permit, READS_AND_WRITES } from './circuit-breaker.ts';

interface ResilienceOptions {
  /** The clock must be monotonic. */
  readonly clock: Clock;
  readonly random: () => number;
  readonly widths: Readonly<Record<Area, number>>;
  readonly observe: ObserveCall;
  /** Called with the name and cause when the first breaker of an area opens, and when the last one closes. */
  readonly onCircuit: (name: string, state: 'closed' | 'open', cause: string | null) => void;
  /** Called when an operation begins to be refused by 429, if no other is. */
  readonly onQuota: (name: string) => void;
  /** Called each time a breaker of the area closes. */
  readonly onRecovered?: ((area: Area) => void) | undefined;
}

/** The circuit breakers: one for each operation, because a client may make one operation fail, and one for all orders. */
class Breakers {
  readonly #options: ResilienceOptions;
  readonly #byName = new Map<string, CircuitBreaker>();

  constructor(options: ResilienceOptions) {
    this.#options = options;
  }

  /** The open breakers of one area, or of all. */
  open(area?: Area): readonly CircuitBreaker[] {
    return [...this.#byName.values()].filter(
      (each) => each.isOpen && (area === undefined || each.area === area),
    );
  }

  /** The operations that are refused by 429. */
  get limited(): readonly CircuitBreaker[] {
    return [...this.#byName.values()].filter(({ isLimited }) => isLimited);
  }

  /** Returns null if the call must be held back. A client can claim to be many accounts: only a proved one counts. */
  admit({ operation }: WireCall, account: string | null): Permit | null {
    const name = operation.effect === 'order' ? operation.area : operation.name;
    const breaker = this.#byName.get(name) ?? this.#create(name, operation);
    if (operation.effect === 'order') this.#probeIfReadsFail(breaker);
    return breaker.admit(account);
  }

  /** Settles the permit of a call that was sent. */
  settle(permit: Permit, call: WireCall, exchange: Exchange): void {
    const health = healthShown(call, exchange);
    const cause = health === 'success' ? null : causeOf(call, exchange);
    const isFirst = health === 'limited' && this.limited.length === 0;
    permit.breaker.settle(permit, health, cause);
    if (isFirst && permit.breaker.isLimited) this.#options.onQuota(permit.breaker.name);
  }

  #create(name: string, { area, effect }: OperationTraits): CircuitBreaker {
    const breaker = new CircuitBreaker({
      name,
      area,
      clock: this.#options.clock,
      policy: effect === 'order' ? ORDERS : READS_AND_WRITES,
      onChange: (changed) => this.#report(changed),
    });
    this.#byName.set(name, breaker);
    return breaker;
  }

  /** If a breaker of reads has opened since the last answered order, the next order is a probe. */
  #probeIfReadsFail(orders: CircuitBreaker): void {
    const isNewer = ({ openedAtMs }: CircuitBreaker) =>
      openedAtMs !== null && openedAtMs > orders.answeredAtMs;
    if (!orders.isOpen && this.open('reads').some(isNewer)) orders.trip();
  }

  /** Reports the first breaker of an area that opens, and the last that closes. Readiness names the others. */
  #report({ name, area, isOpen, cause }: CircuitBreaker): void {
    const { onCircuit, onRecovered } = this.#options;
    const openBreakers = this.open(area).length;
    if (isOpen && openBreakers === 1) onCircuit(name, 'open', cause);
    if (!isOpen && openBreakers === 0) onCircuit(name, 'closed', null);
    if (!isOpen) onRecovered?.(area);
  }
}

/** The outcome, or the error's code if the connection was not made or was lost. */
function causeOf(call: WireCall, exchange: Exchange): string {
  const outcome = callOutcome(call, exchange);
  if (outcome !== 'connect' && outcome !== 'reset') return outcome;
  return codeOf('cause' in exchange ? exchange.cause : null) ?? outcome;
}

const BUSY = 'no connection came free in time';
const CIRCUIT_OPEN = 'the circuit breaker is open, because such calls have just failed';

/** Retries, bulkheads and circuit breakers between the gateway client and the wire. */
export class Resilience {
  readonly #wire: Send;
  readonly #observe: ObserveCall;
  readonly #breakers: Breakers;
  readonly #bulkheads = new Map<Area, Bulkhead>();
  readonly #retries = new Map<Area, Retries>();

  constructor(wire: Send, options: ResilienceOptions) {
    const { clock, random, widths, observe } = options;
    this.#wire = wire;
    this.#observe = observe;
    this.#breakers = new Breakers(options);
    for (const [area, width] of Object.entries(widths)) {
      this.#bulkheads.set(area, new Bulkhead(clock, width, area === 'orders'));
      // Each area has its own budget, so that failing payments do not use up the retries of trading.
      this.#retries.set(area, new Retries(clock, random));
    }
  }

  readonly send: Send = (call) => ofArea(this.#retries, call).send(call, this.#attempt);

  /** Waits until the area of the call has a connection, and then sends the call if its breaker admits it. */
  readonly #attempt: Send = async (call) => {
    const bulkhead = ofArea(this.#bulkheads, call);
    const entry = entryOf(call.caller);
    // Usually a connection is free. After a wait, less of the call's deadline is left, so `enqueue` returns a changed call.
    const begun = bulkhead.take(entry) ? call : await bulkhead.enqueue(call, entry);
    if (begun === null) return this.#ended(call, notAttempted('busy', BUSY));
    let lateAnswer: Promise<Exchange> | undefined;
    try {
      const permit = this.#breakers.admit(call, entry.isProved ? entry.account : null);
      if (permit === null) return this.#ended(call, notAttempted('circuit', CIRCUIT_OPEN));
      const exchange = await this.#wire(begun);
      if ('late' in exchange) lateAnswer = exchange.late;
      this.#breakers.settle(permit, call, exchange);
      return this.#ended(call, exchange);
    } finally {
      // The call is over, and its connection free, unless a late answer of its order is awaited.
      if (lateAnswer === undefined) bulkhead.leave(entry);
      else
        fireAndForget(
          'late answer',
          lateAnswer.then(() => bulkhead.leave(entry)),
        );
    }
  };

  isOpen(area: Area): boolean {
    return this.#breakers.open(area).length > 0;
  }

  /** The number of an area's calls that wait for a connection. */
  waiting(area: Area): number {
    return this.#bulkheads.get(area)?.waiting ?? 0;
  }

  /** The operations with an open breaker, or refused by 429, and their causes, for operators; null if there are none. */
  degradedReason(): string | null {
    const open = this.#breakers
      .open()
      .map(({ name, cause }) => (cause === null ? name : `${name} (${cause})`));
    const named = [...open, ...this.#breakers.limited.map(({ name }) => `${name} (429)`)];
    return named.length === 0 ? null : `gateway failing: ${named.join(', ')}`;
  }

  /** Reports an attempt, and adds it to the receipt of its request, which lists the request's calls. */
  #ended(call: WireCall, exchange: Exchange): Exchange {
    const outcome = callOutcome(call, exchange);
    this.#observe(call, outcome, exchange);
    const ms = exchange.sent ? systemClock.now() - exchange.sentAtMs : 0;
    const { name: operation } = call.operation;
    call.caller.receipt?.({ operation, ms, source: 'call', outcome });
    return exchange;
  }
}

function ofArea<Guard>(guards: ReadonlyMap<Area, Guard>, { operation }: WireCall): Guard {
  const guard = guards.get(operation.area);
  if (guard === undefined) throw new Error(`no connections for ${operation.area}`);
  return guard;
}

function notAttempted(reason: NotAttemptedError['reason'], message: string): Exchange {
  return { sent: false, cause: new NotAttemptedError(reason, message) };
}

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
      await pause(this.#clock, pauseMs);
      const deadlineMs = endsAtMs - this.#clock.now();
      if (deadlineMs <= 0) break;
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
