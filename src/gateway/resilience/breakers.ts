import type { Clock } from '../../lib/clock.ts';
import { callOutcome, codeOf, healthShown } from '../classify.ts';
import type { Exchange, WireCall } from '../exchange.ts';
import type { Area, OperationTraits } from '../operation.ts';
import { CircuitBreaker, ORDERS, type Permit, READS_AND_WRITES } from './circuit-breaker.ts';

export interface BreakersOptions {
  readonly clock: Clock;
  /** Called with the name and cause when the first breaker of an area opens, and when the last one closes. */
  readonly onCircuit: (name: string, state: 'closed' | 'open', cause: string | null) => void;
  /** Called each time a breaker of the area closes. */
  readonly onRecovered?: ((area: Area) => void) | undefined;
}

/** The circuit breakers: one for each operation, because a client may make one operation fail, and one for all orders. */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #byName = new Map<string, CircuitBreaker>();

  constructor(options: BreakersOptions) {
    this.#options = options;
  }

  /** The open breakers of one area, or of all. */
  open(area?: Area): readonly CircuitBreaker[] {
    return [...this.#byName.values()].filter(
      (each) => each.isOpen && (area === undefined || each.area === area),
    );
  }

  /** Returns null if the call must be held back. */
  admit({ operation, caller }: WireCall): Permit | null {
    const name = operation.effect === 'order' ? operation.area : operation.name;
    const breaker = this.#byName.get(name) ?? this.#create(name, operation);
    if (operation.effect === 'order') this.#probeIfReadsFail(breaker);
    // A client can claim to be many accounts, so only a proved account counts.
    return breaker.admit(caller.tokenStatus?.provedClient?.key ?? null);
  }

  /** Settles the permit of a call that was sent. */
  settle(permit: Permit, call: WireCall, exchange: Exchange): void {
    const health = healthShown(call, exchange);
    const cause = health === 'success' ? null : causeOf(call, exchange);
    permit.breaker.settle(permit, health, cause);
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
