import type { OperationName } from '../gateway/operations.ts';
import type { Clock } from '../lib/clock.ts';

/** The faults that can be injected into a call. */
export const FAULT_KINDS = ['status', 'delay', 'reset-before', 'reset-after', 'garbage'] as const;

export interface Fault {
  /** `*` means any operation. */
  readonly operation: OperationName | '*';
  readonly kind: (typeof FAULT_KINDS)[number];
  /** With `status`: 500 by default. */
  readonly status?: number | undefined;
  /** With `status`: a string is sent as it is, any other value as JSON; by default the operation's error body. */
  readonly body?: unknown;
  /** Headers that are added to the answer, or replace its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The delay before the fault. */
  readonly delayMs?: number | undefined;
  /** The number of calls that the fault hits; by default all calls until the fault is cleared. */
  readonly times?: number | undefined;
  /** How long the fault lasts; by default until it is cleared. */
  readonly forMs?: number | undefined;
  /** Limits the fault to calls with a token of this login. */
  readonly login?: number | undefined;
}

interface ActiveFault {
  readonly fault: Fault;
  readonly untilMs: number;
  callsLeft: number;
}

export class Faults {
  readonly #clock: Clock;
  #active: ActiveFault[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(fault: Fault): void {
    const { times = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY } = fault;
    this.#active.push({ fault, untilMs: this.#clock.now() + forMs, callsLeft: times });
  }

  clear(): void {
    this.#active = [];
  }

  /** Returns the fault that hits this call, and counts it against `times`. */
  take(operation: OperationName, login: number | null): Fault | null {
    const nowMs = this.#clock.now();
    this.#active = this.#active.filter(
      ({ untilMs, callsLeft }) => nowMs < untilMs && callsLeft > 0,
    );
    const active = this.#active.find(({ fault }) => hits(fault, operation, login));
    if (active === undefined) return null;
    active.callsLeft -= 1;
    return active.fault;
  }
}

function hits(fault: Fault, operation: OperationName, login: number | null): boolean {
  if (fault.operation !== '*' && fault.operation !== operation) return false;
  return fault.login === undefined || fault.login === login;
}
