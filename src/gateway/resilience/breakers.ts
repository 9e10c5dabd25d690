import type { Clock } from '../../../lib/clock.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import type { Caller } from '../caller.ts';
import { type Health, healthShown } from '../classify.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Send, WireCall } from '../exchange.ts';
import type { Backend } from '../operations.ts';
import {
  type Account,
  CircuitBreaker,
  type CountedHealth,
  type Permit,
  WINDOW_MS,
} from './circuit-breaker.ts';

/** A backend or one of its operations. */
export type CircuitName = string;

export interface BreakersOptions {
  readonly clock: Clock;
  readonly onCircuit: (name: CircuitName, state: 'closed' | 'open', backend: Backend) => void;
}

const MINIMUM_CALLS = 10;
// Few orders come in ten seconds, and a failure to connect is hardly ever one account's own.
const MINIMUM_ORDERS = 5;

/** Without a token: an e-mail at which the gateway stumbles must not keep others from signing in. */
const ANYBODYS: ReadonlySet<string> = new Set(['login', 'forgotPassword']);

interface Permits {
  readonly shared: Permit;
  readonly own: Permit;
}

/**
 * The breakers of one backend. What an operation answers counts for that operation, since anybody may be able to make a single
 * one fail; the shared breaker counts failures to connect, and opens where two operations have.
 */
export class BackendBreakers {
  readonly #options: BreakersOptions;
  readonly #shared: CircuitBreaker;
  readonly #own = new Map<string, CircuitBreaker>();
  readonly #name: Backend;
  #provedAtMs = Number.NEGATIVE_INFINITY;

  constructor(name: Backend, options: BreakersOptions) {
    this.#name = name;
    this.#options = options;
    this.#shared = this.#create(name, () => {});
  }

  /** The names of what is not closed: the backend's, else its operations'. */
  get open(): readonly CircuitName[] {
    if (this.#shared.isOpen) return [this.#name];
    return this.#openOperations();
  }

  /** Null while the call is to be held back. */
  admit({ operation, caller }: WireCall): Permits | null {
    const account = ANYBODYS.has(operation) ? accountOf(caller) : undefined;
    const shared = this.#shared.admit(account);
    if (shared === null) return null;
    const own = this.#breakerOf(operation).admit(account);
    if (own !== null) return { shared, own };
    // The next call is the probe instead.
    this.#shared.settle(shared, 'none', NOBODY);
    return null;
  }

  settle({ shared, own }: Permits, { operation, caller }: WireCall, health: Health): void {
    const account = accountOf(caller);
    if (account.isProved) this.#provedAtMs = this.#options.clock.now();
    this.#shared.settle(shared, healthFor(shared, health, 'failure'), account);
    this.#breakerOf(operation).settle(own, healthFor(own, health, 'unreachable'), account);
  }

  #breakerOf(operation: string): CircuitBreaker {
    const onOpen = () => {
      if (this.#openOperations().length > 1) this.#shared.trip();
    };
    const breaker =
      this.#own.get(operation) ?? this.#create(operation, onOpen, ANYBODYS.has(operation));
    this.#own.set(operation, breaker);
    return breaker;
  }

  #openOperations(): string[] {
    const open = [...this.#own].filter(([, { isOpen }]) => isOpen);
    return open.map(([name]) => name);
  }

  #create(name: CircuitName, onOpen: () => void, isAnybodys = false): CircuitBreaker {
    const { clock, onCircuit } = this.#options;
    const backend = this.#name;
    return new CircuitBreaker({
      ...{ clock, isAnybodys },
      minimumCalls: backend === 'orders' ? MINIMUM_ORDERS : MINIMUM_CALLS,
      hasProvedCalls: () => clock.now() - this.#provedAtMs < WINDOW_MS,
      onChange(state) {
        onCircuit(name, state, backend);
        if (state === 'open') onOpen();
      },
    });
  }
}

/** Health that another breaker counts is none of this one's, except for a probe, which has to succeed in every respect. */
function healthFor({ isProbe }: Permit, health: Health, ofAnother: Health): CountedHealth {
  if (health === ofAnother && !isProbe) return 'none';
  return health === 'unreachable' ? 'failure' : health;
}

/** Sends only the calls that the breakers of their backend and operation admit. */
export function withBreakers(send: Send, breakers: ReadonlyMap<Backend, BackendBreakers>): Send {
  return async (call) => {
    const backend = breakers.get(call.row.backend);
    if (backend === undefined) return send(call);
    const permits = backend.admit(call);
    if (permits === null) return { sent: false, cause: circuitOpen(call.operation) };
    const isProbe = permits.shared.isProbe || permits.own.isProbe;
    const exchange = await send(isProbe ? unending(call) : call);
    backend.settle(permits, call, healthShown(call, exchange));
    return exchange;
  };
}

function circuitOpen(name: string): NotAttemptedError {
  const message = `the gateway's ${name} has failed a moment ago and is left alone for now`;
  return new NotAttemptedError('circuit', message);
}

/** A probe serves every client: the one whose call it is must not abort it by disconnecting. */
function unending(call: WireCall): WireCall {
  return { ...call, signal: undefined };
}

const NOBODY: Account = { key: '', isProved: false };

/** Failures of all devices of an account count as one account's, and those of a network's unproved callers as one network's. */
export function accountOf(caller: Caller): Account {
  const login = caller.provedLogin?.() ?? null;
  if (login !== null) return { key: login, isProved: true };
  // The /48 of an IPv6 address, as a site or a provider's customer has it at most.
  return { key: addressClient(caller.client?.address).parts.at(-1)?.key ?? '', isProved: false };
}
