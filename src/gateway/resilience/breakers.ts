import type { Clock } from '../../lib/clock.ts';
import { memo } from '../../lib/memo.ts';
import { callOutcome, codeOf, healthShown } from '../classify.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import type { Backend } from '../operation.ts';
import { CircuitBreaker, ORDERS, READS_AND_WRITES } from './circuit-breaker.ts';

export interface BreakersOptions {
  readonly clock: Clock;
  /** Called with the name and cause when the first breaker of a backend opens, and when the last one closes. */
  readonly onCircuit: (name: string, state: 'closed' | 'open', cause: string | null) => void;
  /** Called each time a breaker of the backend closes. */
  readonly onRecovered?: ((backend: Backend) => void) | undefined;
}

interface OpenBreaker {
  /** The operation; `orders` for both kinds of orders. */
  readonly name: string;
  /** Why its last call failed; null if none of its own calls failed. */
  readonly cause: string | null;
}

/**
 * The circuit breakers of all backends: one for each operation, because a client may be able to make a single operation
 * fail, and one for both kinds of orders.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #byBackend = new Map<Backend, Map<string, CircuitBreaker>>();
  readonly #openBackends = new Set<Backend>();

  constructor(options: BreakersOptions) {
    this.#options = options;
  }

  /** The open breakers of a backend. */
  open(backend: Backend): readonly OpenBreaker[] {
    const breakers = [...(this.#byBackend.get(backend) ?? [])];
    return breakers.flatMap(([name, { isOpen, cause }]) => (isOpen ? [{ name, cause }] : []));
  }

  /** Sends only the calls that their operation's breaker admits. */
  around(send: Send): Send {
    return async (call) => {
      // A client can claim to be many accounts, so only a proved account counts.
      const account = call.caller.standing?.client?.key ?? null;
      const breaker = this.#breakerOf(call);
      if (call.row.effect === 'order') this.#heedReads(breaker);
      const permit = breaker.admit(account);
      if (permit === null) return { sent: false, cause: circuitOpen(call.operation) };
      const exchange = await send(call);
      const health = healthShown(call, exchange);
      const cause = health === 'success' ? null : causeOf(call, exchange);
      breaker.settle(permit, { health, account, cause });
      return exchange;
    };
  }

  #breakerOf({ operation, row: { backend, effect } }: WireCall): CircuitBreaker {
    const isOrder = effect === 'order';
    const name = isOrder ? backend : operation;
    const breakers = memo(this.#byBackend, backend, () => new Map<string, CircuitBreaker>());
    return memo(breakers, name, () => {
      const breaker: CircuitBreaker = new CircuitBreaker({
        clock: this.#options.clock,
        policy: isOrder ? ORDERS : READS_AND_WRITES,
        onChange: (isOpen) => {
          this.#changed(name, backend, breaker.cause);
          if (!isOpen) this.#options.onRecovered?.(backend);
        },
      });
      return breaker;
    });
  }

  /** While reads fail, the next order has to show that orders are answered, unless one was answered since. */
  #heedReads(orders: CircuitBreaker): void {
    const reads = this.#byBackend.get('reads')?.values() ?? [];
    const failingSinceMs = Math.max(...[...reads].map(({ openedAtMs }) => openedAtMs ?? -Infinity));
    if (!orders.isOpen && failingSinceMs > orders.answeredAtMs) orders.trip();
  }

  /** Logs the first breaker of a backend that opens, and the last that closes. Readiness names the others. */
  #changed(name: string, backend: Backend, cause: string | null): void {
    const isOpen = this.open(backend).length > 0;
    if (isOpen === this.#openBackends.has(backend)) return;
    if (isOpen) this.#openBackends.add(backend);
    else this.#openBackends.delete(backend);
    this.#options.onCircuit(name, isOpen ? 'open' : 'closed', isOpen ? cause : null);
  }
}

function circuitOpen(name: string): NotAttemptedError {
  const message = `the gateway's ${name} has failed a moment ago and is left alone for now`;
  return new NotAttemptedError('circuit', message);
}

/** The outcome, or the error's code if no connection was made or it was lost. */
function causeOf(call: WireCall, exchange: Exchange): string {
  const outcome = callOutcome(call, exchange);
  if (outcome !== 'connect' && outcome !== 'reset') return outcome;
  return codeOf('cause' in exchange ? exchange.cause : null) ?? outcome;
}
