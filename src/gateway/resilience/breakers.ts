import type { Clock } from '../../../lib/clock.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import type { Caller } from '../caller.ts';
import { type Health, healthShown } from '../classify.ts';
import { NotAttemptedError } from '../errors.ts';
import type { Send, WireCall } from '../exchange.ts';
import type { Backend } from '../operations.ts';
import {
  type Account,
  type CircuitBreaker,
  type CircuitBreakerOptions,
  type CountedHealth,
  createCircuitBreaker,
  PAUSE_MS,
  type Permit,
  WINDOW_MS,
} from './circuit-breaker.ts';
import { createSilence, type Silence } from './silence.ts';

export interface BreakersOptions {
  readonly clock: Clock;
  /** `name`: the backend's or that of one of its operations. */
  readonly onCircuit: (name: string, state: 'closed' | 'open', backend: Backend) => void;
}

const MINIMUM_CALLS = 10;
// Few orders come in ten seconds, and a failure to connect is hardly ever one account's own.
const MINIMUM_ORDERS = 5;
const READS_SILENCE = { minimumCalls: MINIMUM_CALLS, minimumMs: 0 };
/** Three accounts whose orders the gateway loses for a reason of theirs are no silence: within this time others are answered. */
const ORDERS_SILENCE = { minimumCalls: 3, minimumMs: 2_000 };
/** Between two reads that see whether a backend is back, from the second one on: live lists wait for what one of them finds. */
const READS_PAUSE_MS = 2_000;
/** Between two orders that are sent to see whether the gateway is back, while its reads are silent: a read tells as well. */
const SILENT_PAUSE_MS = 20_000;
/** Reads that were tried no longer ago than this would have told. */
const READS_TELL_MS = 8_000;

/** These operations carry no token: an e-mail at which the gateway stumbles must not keep others from signing in. */
const ANYBODYS: ReadonlySet<string> = new Set(['login', 'forgotPassword']);

interface Permits {
  readonly atMs: number;
  readonly shared: Permit;
  readonly own: Permit;
}

export type BackendBreakers = ReturnType<typeof createBackendBreakers>;

/**
 * The breakers of one backend. What an operation answers counts for that operation, since anybody may be able to make a single
 * one fail; the shared breaker counts failures to connect, and opens where two operations have. That of orders opens also where
 * nothing is answered, to them or to the reads of the same gateway: each order that is sent then ends unknown. Orders that end
 * without an answer open no breaker while others are answered.
 */
export function createBackendBreakers(
  backend: Backend,
  { clock, onCircuit }: BreakersOptions,
  readsSilence: () => Silence | undefined = () => undefined,
) {
  const isOrders = backend === 'orders';
  const minimumCalls = isOrders ? MINIMUM_ORDERS : MINIMUM_CALLS;
  const silence = createSilence(clock, isOrders ? ORDERS_SILENCE : READS_SILENCE);
  /** When the call was made that was answered last. */
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  const ofOperations = new Map<string, CircuitBreaker>();
  const ofAll = create(backend, () => {}, { isOfConnections: true });
  let provedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the last probe was sent: one that was not leaves nobody in doubt. */
  let hasSentProbe = false;

  function breakerOf(operation: string): CircuitBreaker {
    const onOpen = () => {
      if (openOperations().length > 1) ofAll.trip();
    };
    const isAnybodys = isOrders || ANYBODYS.has(operation);
    const breaker = ofOperations.get(operation) ?? create(operation, onOpen, { isAnybodys });
    ofOperations.set(operation, breaker);
    return breaker;
  }

  function openOperations(): string[] {
    const open = [...ofOperations].filter(([, { isOpen }]) => isOpen);
    return open.map(([name]) => name);
  }

  function create(
    name: string,
    onOpen: () => void,
    counts: Pick<CircuitBreakerOptions, 'isAnybodys' | 'isOfConnections'>,
  ): CircuitBreaker {
    return createCircuitBreaker({
      ...counts,
      clock,
      minimumCalls,
      leavesProbes: isOrders,
      pauseMs() {
        if (!isOrders) return READS_PAUSE_MS;
        return hasSentProbe && readsSilence()?.lasted(READS_TELL_MS) ? SILENT_PAUSE_MS : PAUSE_MS;
      },
      hasProvedCalls: () => clock.now() - provedAtMs < WINDOW_MS,
      onChange(state) {
        onCircuit(name, state, backend);
        if (state === 'open') onOpen();
      },
    });
  }

  return {
    /** The names of what is not closed: the backend's, else its operations'. */
    get open(): readonly string[] {
      return ofAll.isOpen ? [backend] : openOperations();
    },
    /** Null while the call is to be held back. */
    admit({ operation, caller }: WireCall): Permits | null {
      const account = isOrders || ANYBODYS.has(operation) ? accountOf(caller) : undefined;
      // Once an order was answered since, orders have shown that they are well while reads are not: the next one is to show it.
      if (isOrders && (readsSilence()?.sinceMs ?? Number.NEGATIVE_INFINITY) > answeredAtMs)
        ofAll.trip({ isProbeDue: true });
      const shared = ofAll.admit(account);
      if (shared === null) return null;
      const own = breakerOf(operation).admit(account);
      if (own !== null) return { atMs: clock.now(), shared, own };
      // The next call is the probe instead.
      ofAll.settle(shared, 'none', NOBODY);
      return null;
    },
    settle(permits: Permits, { operation, caller }: WireCall, health: Health): void {
      const { atMs, shared, own } = permits;
      const account = accountOf(caller);
      if (account.isProved) provedAtMs = clock.now();
      if (shared.isProbe) hasSentProbe = health !== 'unreachable';
      ofAll.settle(shared, countedOf(shared, health, health === 'unreachable'), account);
      const isOwn = health === 'failure' || (health === 'lost' && !isOrders);
      breakerOf(operation).settle(own, countedOf(own, health, isOwn), account);
      // A call from before the last answer says nothing of the time since, however late it ends.
      const isLost = (health === 'lost' || health === 'unreachable') && atMs >= answeredAtMs;
      if (isLost) silence.lost(account);
      if (isLost && isOrders && silence.sinceMs !== null) ofAll.trip({ tried: silence.accounts });
      if (health !== 'success') return;
      silence.answered();
      answeredAtMs = Math.max(answeredAtMs, atMs);
    },
    silence,
  };
}

/** Health that another breaker counts is none of this one's, except for a probe, which has to succeed in every respect. */
function countedOf({ isProbe }: Permit, health: Health, isCounted: boolean): CountedHealth {
  if (health === 'success' || health === 'none') return health;
  return isCounted || isProbe ? 'failure' : 'none';
}

/** Sends only the calls that the breakers of their backend and operation admit. */
export function withBreakers(send: Send, breakers: ReadonlyMap<Backend, BackendBreakers>): Send {
  return (call, end) => {
    const backend = breakers.get(call.row.backend);
    if (backend === undefined) return send(call, end);
    const permits = backend.admit(call);
    if (permits === null) return end({ sent: false, cause: circuitOpen(call.operation) });
    const isProbe = permits.shared.isProbe || permits.own.isProbe;
    send(isProbe ? unending(call) : call, (exchange) => {
      try {
        backend.settle(permits, call, healthShown(call, exchange));
      } finally {
        end(exchange);
      }
    });
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
