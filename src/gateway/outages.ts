import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type ConnectionFault, connectionFault } from './call-outcome.ts';
import type { CallOutcome } from './caller.ts';
import type { Exchange, WireCall } from './exchange.ts';
import { refusalOf } from './judge.ts';
import { type Backend, OPERATIONS } from './operations.ts';
import { accountOf } from './resilience/breakers.ts';
import { wordsOf } from './wire/bodies.ts';

interface OutagesOptions {
  /** A monotonic clock. */
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

type EndedCall = Pick<WireCall, 'operation' | 'caller'>;

interface Failure {
  readonly outcome: CallOutcome;
  readonly fault: ConnectionFault | null;
  readonly exchange: Exchange | null;
}

interface Outage {
  readonly sinceMs: number;
  failed: number;
  lastFailureAtMs: number;
  /** Of its last lost connection; null where there was none. */
  fault: ConnectionFault | null;
  readonly accounts: Set<string>;
  minute: Minute;
  cancel: () => void;
}

/** The calls since the last line of the log. */
interface Minute {
  succeeded: number;
  /** Calls that an open breaker did not let through. */
  heldBack: number;
  readonly outcomes: Map<CallOutcome, number>;
  /** Of lost connections. */
  readonly causes: Map<ConnectionFault, number>;
  readonly operations: Set<string>;
  readonly accounts: Set<string>;
}

const FAILURES: ReadonlySet<CallOutcome> = new Set([
  'connect',
  'reset',
  'timeout',
  'contract',
  '429',
  '5xx',
]);
const MINUTE_MS = 60_000;
// Without it a backend that fails every few calls would begin and end a hundred times in a minute.
const QUIET_MS = 15_000;
// Enough to tell one account's trouble from everybody's.
const MOST_ACCOUNTS = 1_000;

/**
 * Logs the failures of each backend when they begin, once a minute while they last, and when they
 * have ended. A line for each failed call would be thousands of them in an outage.
 */
export class Outages {
  readonly #options: OutagesOptions;
  readonly #outages = new Map<Backend, Outage>();

  constructor(options: OutagesOptions) {
    this.#options = options;
  }

  /** Called with each call once it has ended, its retries included; without its exchange where its body tells. */
  saw(call: EndedCall, outcome: CallOutcome, exchange: Exchange | null = null): void {
    const { backend } = OPERATIONS[call.operation];
    const outage = this.#outages.get(backend);
    if (FAILURES.has(outcome)) {
      const fault = exchange === null ? null : connectionFault(outcome, exchange);
      this.#failed(backend, call, { outcome, fault, exchange }, outage);
    } else if (outage !== undefined) this.#passed(backend, outcome, outage);
  }

  /** Why connections are lost, where that makes a backend fail now. */
  get lastFault(): ConnectionFault | null {
    return [...this.#outages.values()].findLast(({ fault }) => fault !== null)?.fault ?? null;
  }

  close(): void {
    for (const { cancel } of this.#outages.values()) cancel();
    this.#outages.clear();
  }

  #failed(backend: Backend, call: EndedCall, failure: Failure, known: Outage | undefined): void {
    const { outcome, fault } = failure;
    const nowMs = this.#options.clock.now();
    const outage = known ?? this.#begin(backend, call, failure, nowMs);
    const { operations, outcomes, causes } = outage.minute;
    outage.failed += 1;
    outage.lastFailureAtMs = nowMs;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    operations.add(call.operation);
    if (fault !== null) {
      outage.fault = fault;
      causes.set(fault, (causes.get(fault) ?? 0) + 1);
    }
    for (const accounts of [outage.accounts, outage.minute.accounts]) {
      if (accounts.size < MOST_ACCOUNTS) accounts.add(accountOf(call.caller).key);
    }
  }

  #passed(backend: Backend, outcome: CallOutcome, outage: Outage): void {
    const { minute } = outage;
    if (outcome === 'circuit') minute.heldBack += 1;
    // A refusal of a token says nothing about the backend: it may come from a proxy in front of it.
    if (outcome !== 'ok' && outcome !== '4xx') return;
    minute.succeeded += 1;
    if (this.#options.clock.now() - outage.lastFailureAtMs >= QUIET_MS) this.#end(backend, outage);
  }

  #begin(
    backend: Backend,
    { operation }: EndedCall,
    { outcome, fault, exchange }: Failure,
    nowMs: number,
  ): Outage {
    const words = exchange?.sent && exchange.answered ? wordsOf(refusalOf(exchange)) : null;
    this.#options.log.warn(
      {
        backend,
        operation,
        outcome,
        ...(fault !== null && { cause: fault }),
        ...(words !== null && { gatewayError: words }),
      },
      'a backend of the gateway fails',
    );
    const outage: Outage = {
      sinceMs: nowMs,
      failed: 0,
      lastFailureAtMs: nowMs,
      fault,
      accounts: new Set(),
      minute: newMinute(),
      cancel: () => {},
    };
    this.#outages.set(backend, outage);
    this.#schedule(backend, outage);
    return outage;
  }

  #schedule(backend: Backend, outage: Outage): void {
    outage.cancel = this.#options.clock.after(MINUTE_MS, () => this.#minuteOver(backend, outage));
  }

  #minuteOver(backend: Backend, outage: Outage): void {
    const { succeeded, heldBack, outcomes, causes, operations, accounts } = outage.minute;
    // Behind an open breaker hardly any call fails, and none succeeds.
    if (outcomes.size === 0 && heldBack === 0) {
      this.#end(backend, outage);
      return;
    }
    this.#options.log.warn(
      {
        backend,
        seconds: this.#secondsOf(outage),
        outcomes: Object.fromEntries(outcomes),
        ...(causes.size > 0 && { causes: Object.fromEntries(causes) }),
        operations: [...operations],
        accounts: accounts.size,
        succeeded,
        heldBack,
      },
      'a backend of the gateway still fails',
    );
    outage.minute = newMinute();
    this.#schedule(backend, outage);
  }

  #end(backend: Backend, outage: Outage): void {
    outage.cancel();
    this.#outages.delete(backend);
    this.#options.log.info(
      {
        backend,
        seconds: this.#secondsOf(outage),
        failed: outage.failed,
        accounts: outage.accounts.size,
      },
      'a backend of the gateway fails no more',
    );
  }

  #secondsOf({ sinceMs }: Outage): number {
    return Math.round((this.#options.clock.now() - sinceMs) / 1000);
  }
}

function newMinute(): Minute {
  return {
    succeeded: 0,
    heldBack: 0,
    outcomes: new Map(),
    causes: new Map(),
    operations: new Set(),
    accounts: new Set(),
  };
}
