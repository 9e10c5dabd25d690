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

/** Records all calls as counts, and the last requests in full. */
export interface Observations {
  note(received: ReceivedRequest): void;
  counts(): CallCounts;
  count(operation?: OperationName, login?: number): number;
  requests(operation?: OperationName): RecordedRequest[];
  clear(): void;
}

const REMEMBERED_REQUESTS = 1_000;
const REMEMBERED_LOGINS = 10_000;
const SHOWN_BODY_BYTES = 65_536;

export function createObservations(): Observations {
  let operations = new Map<OperationName, number>();
  let logins = new Map<number, Map<OperationName, number>>();
  let receivedRequests: ReceivedRequest[] = [];
  let next = 0;

  function remember({ body, ...received }: ReceivedRequest): void {
    // A part of a buffer holds all of it.
    receivedRequests[next] = { ...received, body: Buffer.from(body.subarray(0, SHOWN_BODY_BYTES)) };
    next = (next + 1) % REMEMBERED_REQUESTS;
  }

  return {
    note(received) {
      remember(received);
      const { operation, login } = received;
      if (operation === null) return;
      operations.set(operation, (operations.get(operation) ?? 0) + 1);
      if (login === null) return;
      let own = logins.get(login);
      if (own === undefined) {
        if (logins.size >= REMEMBERED_LOGINS) return;
        own = new Map();
        logins.set(login, own);
      }
      own.set(operation, (own.get(operation) ?? 0) + 1);
    },
    counts() {
      return {
        total: sum(operations),
        operations: Object.fromEntries(operations),
        logins: Object.fromEntries(
          [...logins].map(([login, own]) => [login, Object.fromEntries(own)]),
        ),
      };
    },
    count(operation, login) {
      const counted = login === undefined ? operations : (logins.get(login) ?? new Map());
      return operation === undefined ? sum(counted) : (counted.get(operation) ?? 0);
    },
    requests(operation) {
      const inOrder = [...receivedRequests.slice(next), ...receivedRequests.slice(0, next)];
      return inOrder
        .filter((received) => operation === undefined || received.operation === operation)
        .map(show);
    },
    clear() {
      operations = new Map();
      logins = new Map();
      receivedRequests = [];
      next = 0;
    },
  };
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
