import type { Clock } from '../../lib/clock.ts';
import { memo } from '../../lib/memo.ts';
import { type Health, healthShown } from '../classify.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Exchange, Send, WireCall } from '../exchange.ts';
import type { Backend } from '../operation.ts';
import { accountOf } from './account-of.ts';
import { CircuitBreaker, ORDERS, READS_AND_WRITES, WINDOW_MS } from './circuit-breaker.ts';

export interface BreakersOptions {
  readonly clock: Clock;
  /** Called when the first breaker of a backend has opened, by its operation's name, and when the last has closed. */
  readonly onCircuit: (name: string, state: 'closed' | 'open', backend: Backend) => void;
  /** Called each time a breaker of the backend has closed. */
  readonly onRecovered?: ((backend: Backend) => void) | undefined;
}

/**
 * The circuit breakers of all backends: one for each operation, since anybody may be able to make a single one fail, and one for
 * both kinds of orders.
 */
export class Breakers {
  readonly #options: BreakersOptions;
  readonly #byBackend = new Map<Backend, Map<string, CircuitBreaker>>();
  readonly #openBackends = new Set<Backend>();
  #provedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BreakersOptions) {
    this.#options = options;
  }

  /** The operations of a backend whose breakers are open; orders by the name of theirs. */
  open(backend: Backend): readonly string[] {
    const breakers = [...(this.#byBackend.get(backend) ?? [])];
    return breakers.filter(([, { isOpen }]) => isOpen).map(([name]) => name);
  }

  /** Sends only the calls that the breaker of their operation admits. */
  around(send: Send): Send {
    return (call, end) => {
      const account = accountOf(call.caller);
      const breaker = this.#breakerOf(call);
      if (call.row.effect === 'order') this.#heedReads(breaker);
      const permit = breaker.admit(account);
      if (permit === null) return end({ sent: false, cause: circuitOpen(call.operation) });
      if (account.isProved) this.#provedAtMs = permit.atMs;
      send(permit.isProbe ? unending(call) : call, (exchange) => {
        try {
          breaker.settle(permit, healthCounted(call, exchange), account);
        } finally {
          end(exchange);
        }
      });
    };
  }

  #breakerOf({ operation, row: { backend, effect } }: WireCall): CircuitBreaker {
    const isOrder = effect === 'order';
    const name = isOrder ? backend : operation;
    const breakers = memo(this.#byBackend, backend, () => new Map<string, CircuitBreaker>());
    return memo(breakers, name, () => {
      const { clock } = this.#options;
      return new CircuitBreaker({
        clock,
        policy: isOrder ? ORDERS : READS_AND_WRITES,
        hasProvedCalls: () => clock.now() - this.#provedAtMs < WINDOW_MS,
        onChange: (isOpen) => {
          this.#changed(name, backend);
          if (!isOpen) this.#options.onRecovered?.(backend);
        },
      });
    });
  }

  /** While reads fail, the next order has to show that orders are answered, unless one was answered meanwhile. */
  #heedReads(orders: CircuitBreaker): void {
    const reads = this.#byBackend.get('reads')?.values() ?? [];
    const failingSinceMs = Math.max(...[...reads].map(({ openedAtMs }) => openedAtMs ?? -Infinity));
    if (!orders.isOpen && failingSinceMs > orders.answeredAtMs) orders.trip();
  }

  /** Logs one line for one cause. Readiness names the other breakers of the backend that open meanwhile. */
  #changed(name: string, backend: Backend): void {
    const isOpen = this.open(backend).length > 0;
    if (isOpen === this.#openBackends.has(backend)) return;
    if (isOpen) this.#openBackends.add(backend);
    else this.#openBackends.delete(backend);
    this.#options.onCircuit(name, isOpen ? 'open' : 'closed', backend);
  }
}

/** An e-mail that makes the gateway fail must not keep others from signing in. Sign-ins have limits of their own. */
function healthCounted(call: WireCall, exchange: Exchange): Health {
  const health = healthShown(call, exchange);
  const isOfCaller = call.row.isAnonymous && (health === 'failure' || health === 'lost');
  return isOfCaller ? 'none' : health;
}

function circuitOpen(name: string): NotAttemptedError {
  const message = `the gateway's ${name} has failed a moment ago and is left alone for now`;
  return new NotAttemptedError('circuit', message);
}

/** A probe serves every client, so its own client must not abort it by disconnecting. */
function unending(call: WireCall): WireCall {
  return { ...call, signal: undefined };
}
