import type { OperationTypeNode } from 'graphql';
import type { Attribution } from '../../lib/error-codes.ts';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';

/** A backend call that an operation made, shared, or was spared by the cache. */
export interface BackendCall {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** The result of a call that the operation made itself. */
  readonly outcome?: string;
}

export type Transport = 'http' | 'sse' | 'websocket';

/**
 * The cause of a request's outcome: `caller` (a wrong document, token or input), `refused` (over our own limit), `fault` (a
 * backend or the service), `gone` (the client left before its answer).
 */
export type RequestOutcome = 'ok' | Attribution | 'gone';

/** The facts about a request that are known before its document is read. */
type RequestOrigin = Pick<RequestSummary, 'requestId' | 'transport' | 'method' | 'client'>;

/** The name and version that a client sends for itself, if they may be logged. */
export interface ClientNaming {
  readonly name: string;
  readonly version: string | null;
}

const NONE: readonly never[] = [];
// Keeps a log line below 8 kB. Further calls are only counted.
const MAX_LISTED_CALLS = 45;
const BY_SEVERITY: readonly RequestOutcome[] = ['ok', 'gone', 'caller', 'refused', 'fault'];

/** A request and its outcome, collected while it runs for its log line and its metrics. */
export class RequestSummary {
  readonly requestId: string;
  /** Null over a WebSocket. */
  readonly method: string | null;
  readonly client: ClientNaming | null;
  readonly startedAtMs = performance.now();
  transport: Transport;
  /** The span of the request; null if tracing is off, and until an operation of a socket begins. */
  trace: TraceSpan | null = null;
  operationName: string | null = null;
  type: OperationTypeNode | null = null;
  /** Whether its document is from a manifest, so that operators have chosen its name. */
  isTrusted = false;
  claimedAccount: string | null = null;
  outcome: RequestOutcome = 'ok';
  bytesOut = 0;
  /** The number of results that were sent: one, or the events of a subscription. */
  results = 0;
  callCount = 0;
  /** True for a subscription whose events have begun. */
  hasStarted = false;
  hasEnded = false;
  // Lists are created with their first entry, because most requests have at most one.
  codes: readonly string[] = NONE;
  calls: readonly BackendCall[] = NONE;
  /** The first error code that is a fault. */
  #faultCode: string | null = null;

  constructor({ requestId, transport, method, client }: RequestOrigin) {
    this.requestId = requestId;
    this.transport = transport;
    this.method = method;
    this.client = client;
  }

  called(entry: BackendCall): void {
    this.callCount += 1;
    if (this.calls.length < MAX_LISTED_CALLS) this.calls = this.calls.concat(entry);
  }

  failed(code: string, outcome: Attribution): void {
    this.worsen(outcome);
    if (outcome === 'fault') this.#faultCode ??= code;
    if (!this.codes.includes(code)) this.codes = this.codes.concat(code);
  }

  worsen(outcome: RequestOutcome): void {
    const isWorse = BY_SEVERITY.indexOf(outcome) > BY_SEVERITY.indexOf(this.outcome);
    if (isWorse) this.outcome = outcome;
  }

  /** Call it when the events of a subscription have begun. Its span covers the start alone. */
  started(status: number | null): void {
    this.hasStarted = true;
    this.endTrace(status);
  }

  /** Ends the span. Only a fault marks it as failed. `status` is null if there is no response over HTTP. */
  endTrace(status: number | null): void {
    if (this.trace === null) return;
    const attributes = status === null ? {} : { 'http.response.status_code': status };
    this.trace.end(this.outcome === 'fault' ? this.#faultCode : null, attributes);
  }

  sent(bytes: number): void {
    this.results += 1;
    this.bytesOut += bytes;
  }
}
