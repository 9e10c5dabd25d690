import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../gateway/operations.ts';

/** A request as the sandbox received it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Null for an unknown path. */
  readonly operation: OperationName | null;
  /** Whether it begins the operation, and so counts as a call of it. */
  readonly isCounted: boolean;
  readonly login: number | null;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Counts = Partial<Record<OperationName, number>>;

export interface CallCounts {
  readonly total: number;
  readonly operations: Counts;
  /** Counts by the login of the call's token. */
  readonly logins: Readonly<Record<string, Counts>>;
}

const REMEMBERED_REQUESTS = 1_000;
const REMEMBERED_LOGINS = 10_000;

/** Counts the calls of operations, without the look-ups after them, and records the last requests in full. */
export class Observations {
  readonly #operations = new Map<OperationName, number>();
  readonly #logins = new Map<number, Map<OperationName, number>>();
  /** A ring buffer: the next request replaces the oldest one, at index `#next`. */
  #requests: RecordedRequest[] = [];
  #next = 0;

  note(request: RecordedRequest): void {
    this.#requests[this.#next] = request;
    this.#next = (this.#next + 1) % REMEMBERED_REQUESTS;
    const { operation, isCounted, login } = request;
    if (operation === null || !isCounted) return;
    increment(this.#operations, operation);
    if (login === null) return;
    const known = this.#logins.get(login);
    if (known !== undefined) {
      increment(known, operation);
    } else if (this.#logins.size < REMEMBERED_LOGINS) {
      this.#logins.set(login, new Map([[operation, 1]]));
    }
  }

  counts(): CallCounts {
    const logins = [...this.#logins].map(([login, own]) => [login, Object.fromEntries(own)]);
    return {
      total: sum(this.#operations),
      operations: Object.fromEntries(this.#operations),
      logins: Object.fromEntries(logins),
    };
  }

  /** The number of calls: of one operation or of all operations, by one login or by all logins. */
  count(operation?: OperationName, login?: number): number {
    const counted = login === undefined ? this.#operations : this.#logins.get(login);
    if (counted === undefined) return 0;
    return operation === undefined ? sum(counted) : (counted.get(operation) ?? 0);
  }

  requests(operation?: OperationName): RecordedRequest[] {
    const older = this.#requests.slice(this.#next);
    const newer = this.#requests.slice(0, this.#next);
    return [...older, ...newer].filter(
      (request) =>
        operation === undefined || (request.isCounted && request.operation === operation),
    );
  }

  clear(): void {
    this.#operations.clear();
    this.#logins.clear();
    this.#requests = [];
    this.#next = 0;
  }
}

function increment(counts: Map<OperationName, number>, operation: OperationName): void {
  counts.set(operation, (counts.get(operation) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<OperationName, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
