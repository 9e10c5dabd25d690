import type { OperationName } from '../gateway/operations.ts';
import type { Clock } from '../lib/clock.ts';

/** The faults that can be injected into a call. */
export const FAULT_KINDS = [
  'status',
  'delay',
  'reset-before',
  'reset-after',
  'cut',
  'cut-head',
  'garbage',
  'empty',
  'hang',
  'html',
  'oversize',
  'gzip-bomb',
  'redirect',
  'revoke',
  'clock',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  /** `*` means any operation. */
  readonly operation: OperationName | '*';
  readonly kind: FaultKind;
  readonly status?: number | undefined;
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The delay before the fault. */
  readonly delayMs?: number | undefined;
  /** The number of calls it hits; by default all until it is cleared. */
  readonly times?: number | undefined;
  /** How long it lasts; by default until it is cleared. */
  readonly forMs?: number | undefined;
  /** The number of calls that pass unharmed first. */
  readonly skip?: number | undefined;
  /** Limits the fault to calls with a token of this login. */
  readonly login?: number | undefined;
  /** Whether the operation is carried out before its answer is corrupted. */
  readonly apply?: boolean | undefined;
  /** With `clock`: how far the answer's `Date` is ahead of the time. */
  readonly shiftSeconds?: number | undefined;
  /** The size of an `oversize` answer, or of a decompressed `gzip-bomb`. */
  readonly bytes?: number | undefined;
}

interface Armed {
  readonly fault: Fault;
  readonly untilMs: number;
  skip: number;
  left: number;
}

export class Faults {
  readonly #clock: Clock;
  #armed: Armed[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(fault: Fault): void {
    const { skip = 0, times = Number.POSITIVE_INFINITY, forMs } = fault;
    const untilMs = forMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + forMs;
    this.#armed.push({ fault, untilMs, skip, left: times });
  }

  list(): readonly Fault[] {
    return this.#lasting().map(({ fault }) => fault);
  }

  clear(): void {
    this.#armed = [];
  }

  /** Returns the fault that hits this call, and counts it against `times`. */
  take(operation: OperationName, login: number | null): Fault | null {
    for (const entry of this.#lasting()) {
      if (!hits(entry.fault, operation, login)) continue;
      if (entry.skip > 0) {
        entry.skip -= 1;
        continue;
      }
      entry.left -= 1;
      if (entry.left <= 0) this.#armed = this.#armed.filter((other) => other !== entry);
      return entry.fault;
    }
    return null;
  }

  #lasting(): readonly Armed[] {
    const nowMs = this.#clock.now();
    this.#armed = this.#armed.filter(({ untilMs }) => nowMs < untilMs);
    return this.#armed;
  }
}

function hits(fault: Fault, operation: OperationName, login: number | null): boolean {
  if (fault.operation !== '*' && fault.operation !== operation) return false;
  return fault.login === undefined || fault.login === login;
}
