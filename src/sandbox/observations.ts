import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../gateway/operations.ts';

/** A request as the sandbox received it, with a fingerprint in place of the token. */
export interface RecordedRequest {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  /** Null for an unknown path. */
  readonly operation: OperationName | null;
  readonly login: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Counts = Partial<Record<OperationName, number>>;

export interface CallCounts {
  readonly total: number;
  readonly operations: Counts;
  /** Counts by the login of the call's token. */
  readonly logins: Readonly<Record<string, Counts>>;
}

export interface ReceivedRequest extends Omit<RecordedRequest, 'headers' | 'body'> {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const REMEMBERED_REQUESTS = 1_000;
const REMEMBERED_LOGINS = 10_000;
const SHOWN_BODY_BYTES = 65_536;

/** Records all calls as counts, and the last requests in full. */
export class Observations {
  readonly #operations = new Map<OperationName, number>();
  readonly #logins = new Map<number, Map<OperationName, number>>();
  #requests: ReceivedRequest[] = [];
  #next = 0;

  note({ body, ...received }: ReceivedRequest): void {
    // A slice of a buffer would keep the whole buffer in memory.
    this.#requests[this.#next] = {
      ...received,
      body: Buffer.from(body.subarray(0, SHOWN_BODY_BYTES)),
    };
    this.#next = (this.#next + 1) % REMEMBERED_REQUESTS;
    const { operation, login } = received;
    if (operation === null) return;
    increment(this.#operations, operation);
    if (login === null) return;
    const isNew = !this.#logins.has(login);
    if (isNew && this.#logins.size >= REMEMBERED_LOGINS) return;
    if (isNew) this.#logins.set(login, new Map());
    increment(this.#logins.get(login) ?? new Map(), operation);
  }

  counts(): CallCounts {
    const logins = [...this.#logins].map(([login, own]) => [login, Object.fromEntries(own)]);
    return {
      total: sum(this.#operations),
      operations: Object.fromEntries(this.#operations),
      logins: Object.fromEntries(logins),
    };
  }

  /** The calls of an operation, or of all of them, of one login or of all. */
  count(operation?: OperationName, login?: number): number {
    const counted = login === undefined ? this.#operations : this.#logins.get(login);
    if (counted === undefined) return 0;
    return operation === undefined ? sum(counted) : (counted.get(operation) ?? 0);
  }

  requests(operation?: OperationName): RecordedRequest[] {
    return [...this.#requests.slice(this.#next), ...this.#requests.slice(0, this.#next)]
      .filter((received) => operation === undefined || received.operation === operation)
      .map(show);
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

function show({ headers, body, ...received }: ReceivedRequest): RecordedRequest {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    shown[name] = name === 'authorization' ? fingerprint(text) : text;
  }
  return { ...received, headers: shown, body: body.toString() };
}

/** Distinguishes tokens without revealing them. */
function fingerprint(authorization: string): string {
  const token = authorization.replace(/^Bearer /i, '');
  return `sha256:${createHash('sha256').update(token).digest('hex').slice(0, 16)}`;
}
