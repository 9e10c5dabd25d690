import { systemClock } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { callOutcome } from '../classify.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, ObserveCall, Send, WireCall } from '../exchange.ts';
import type { Area } from '../operation.ts';
import { Breakers, type BreakersOptions } from './breakers.ts';
import { Bulkhead, entryOf } from './bulkhead.ts';
import { QuotaWatch, type QuotaWatchOptions } from './quota-watch.ts';
import { Retries } from './retries.ts';

/** The clock must be monotonic. */
interface ResilienceOptions extends BreakersOptions, QuotaWatchOptions {
  readonly random: () => number;
  readonly widths: Readonly<Record<Area, number>>;
  readonly observe: ObserveCall;
}

const BUSY = 'no connection came free in time';
const CIRCUIT_OPEN = 'the circuit breaker is open, because such calls have just failed';

/** Retries, bulkheads and circuit breakers between the gateway client and the wire. */
export class Resilience {
  readonly #wire: Send;
  readonly #observe: ObserveCall;
  readonly #breakers: Breakers;
  readonly #quotas: QuotaWatch;
  readonly #bulkheads = new Map<Area, Bulkhead>();
  readonly #retries = new Map<Area, Retries>();

  constructor(wire: Send, options: ResilienceOptions) {
    const { clock, random, widths, observe } = options;
    this.#wire = wire;
    this.#observe = observe;
    this.#breakers = new Breakers(options);
    this.#quotas = new QuotaWatch(options);
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
    // Usually a connection is free. After a wait, less of the call's deadline is left, so `turn` returns a changed call.
    const begun = bulkhead.take(entry) ? call : await bulkhead.turn(call, entry);
    if (begun === null) return this.#ended(call, notAttempted('busy', BUSY));
    let lateAnswer: Promise<Exchange> | undefined;
    try {
      const permit = this.#breakers.admit(call);
      if (permit === null) return this.#ended(call, notAttempted('circuit', CIRCUIT_OPEN));
      const exchange = await this.#wire(begun);
      if ('late' in exchange) lateAnswer = exchange.late;
      this.#breakers.settle(permit, call, exchange);
      this.#quotas.observe(call, exchange);
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
    const named = [...open, ...this.#quotas.refused().map((name) => `${name} (429)`)];
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
