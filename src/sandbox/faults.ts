import type { OperationName } from '../gateway/operations.ts';

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
  'drip',
  'html',
  'oversize',
  'gzip-bomb',
  'redirect',
  'revoke',
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
  /** The delay before the fault; for `drip`, between two bytes. */
  readonly delayMs?: number | undefined;
  /** The number of calls it hits; all until it is cleared where this is left out. */
  readonly times?: number | undefined;
  /** The number of calls that pass unharmed first. */
  readonly skip?: number | undefined;
  /** Limits the fault to calls with a token of this login. */
  readonly login?: number | undefined;
  /** Whether the operation is carried out before its answer is corrupted. */
  readonly apply?: boolean | undefined;
  /** The size of an `oversize` answer, or of a decompressed `gzip-bomb`. */
  readonly bytes?: number | undefined;
}

export interface Faults {
  add(fault: Fault): void;
  list(): readonly Fault[];
  clear(): void;
  /** Returns the fault that hits this call, and counts it against `times`. */
  take(operation: OperationName, login: number | null): Fault | null;
}

interface Armed {
  readonly fault: Fault;
  skip: number;
  left: number;
}

export function createFaults(): Faults {
  let armed: Armed[] = [];

  return {
    add(fault) {
      armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? Number.POSITIVE_INFINITY });
    },
    list: () => armed.map(({ fault }) => fault),
    clear() {
      armed = [];
    },
    take(operation, login) {
      for (const entry of armed) {
        if (!hits(entry.fault, operation, login)) continue;
        if (entry.skip > 0) {
          entry.skip -= 1;
          continue;
        }
        entry.left -= 1;
        if (entry.left <= 0) armed = armed.filter((other) => other !== entry);
        return entry.fault;
      }
      return null;
    },
  };
}

function hits(fault: Fault, operation: OperationName, login: number | null): boolean {
  if (fault.operation !== '*' && fault.operation !== operation) return false;
  return fault.login === undefined || fault.login === login;
}
