import type { OperationName } from '../gateway/operations.ts';

/** The ways in which a call can be made to go wrong. */
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
  /** `*`: whichever is called. */
  readonly operation: OperationName | '*';
  readonly kind: FaultKind;
  readonly status?: number | undefined;
  /** A text goes out as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long before anything happens; for `drip`, between two bytes. */
  readonly delayMs?: number | undefined;
  /** How many calls it hits; left out: all, until it is cleared. */
  readonly times?: number | undefined;
  /** How many calls pass unharmed first. */
  readonly skip?: number | undefined;
  /** Only calls with a token of this login. */
  readonly login?: number | undefined;
  /** Whether the operation is carried out before its answer is spoilt. */
  readonly apply?: boolean | undefined;
  /** Size of an `oversize` answer, or of an unpacked `gzip-bomb`. */
  readonly bytes?: number | undefined;
}

export interface Faults {
  add(fault: Fault): void;
  list(): readonly Fault[];
  clear(): void;
  /** The fault that hits this call, which uses up one of its times. */
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
