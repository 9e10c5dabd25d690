import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { OperationDefinitionNode, OperationTypeNode } from 'graphql';
import type { Attribution } from '../../lib/error-codes.ts';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';

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

/** The name and version that a client sends for itself, if they may be logged. */
export interface ClientNaming {
  readonly name: string;
  readonly version: string | null;
}

const NONE: readonly never[] = [];
// Keeps a log line below 8 kB. Further calls are only counted.
const MAX_LISTED_CALLS = 45;
/** The worse outcome is later. */
export const OUTCOMES: readonly RequestOutcome[] = ['ok', 'gone', 'caller', 'refused', 'fault'];

/** A request and its outcome, collected while it runs for its log line and its metrics. */
export class RequestSummary {
  readonly requestId: string;
  /** Null over a WebSocket. */
  readonly method: string | null;
  readonly naming: ClientNaming | null;
  readonly startedAtMs = performance.now();
  transport: Transport;
  /** The span of the request; null if tracing is off, and until an operation of a socket begins. */
  trace: TraceSpan | null = null;
  operationName: string | null = null;
  type: OperationTypeNode | null = null;
  /** Whether its document is from a manifest, so that operators have chosen its name. */
  isTrusted = false;
  /** Whether it is a mutation, or may be one because its document has not been read. */
  mayBeMutation: boolean;
  claimedAccount: string | null = null;
  outcome: RequestOutcome = 'ok';
  bytesOut = 0;
  /** The number of results that were sent: one, or the events of a subscription. */
  results = 0;
  callCount = 0;
  /** True for a subscription whose events have begun. */
  hasEvents = false;
  hasEnded = false;
  // Lists are created with their first entry, because most requests have at most one.
  codes: readonly string[] = NONE;
  calls: readonly BackendCall[] = NONE;
  /** The first error code that is a fault. */
  #faultCode: string | null = null;

  /** `requestId`: the client's own id, if it sends one. `method`: null over a WebSocket. */
  constructor(requestId: unknown, method: string | null, naming: ClientNaming | null) {
    this.requestId = acceptedId(requestId);
    this.transport = method === null ? 'websocket' : 'http';
    this.method = method;
    this.naming = naming;
    this.mayBeMutation = method === 'POST' || method === null;
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
    if (OUTCOMES.indexOf(outcome) > OUTCOMES.indexOf(this.outcome)) this.outcome = outcome;
  }

  /** Call it when the events of a subscription have begun. Its span covers the start alone. */
  eventsBegan(status: number | null): void {
    this.hasEvents = true;
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

const ROUTE = '/graphql';

/** Begins the span of an HTTP request. Addresses, user agents and query strings are personal, so they are left out. */
export function traceRequest(
  tracing: Tracing,
  { method = '', headers, httpVersion }: IncomingMessage,
  isFromProxy: boolean,
): TraceSpan {
  return tracing.start({
    // Node accepts only methods that it knows.
    name: `${method} ${ROUTE}`,
    kind: 'SERVER',
    attributes: {
      'http.request.method': method,
      'http.route': ROUTE,
      'url.path': ROUTE,
      'url.scheme': 'http',
      'network.protocol.version': httpVersion,
    },
    // Only a proxy's trace is continued.
    parent: isFromProxy ? tracing.senderOf(headers) : undefined,
  });
}

/**
 * Adds the operation to the span of its HTTP request. An operation of a socket begins a span, because a span of the socket
 * would last until it closes. The span has no document and no variables, which may contain a password. It has a name only
 * from a manifest, because clients choose other names freely.
 */
export function traceOperation(
  tracing: Tracing,
  summary: RequestSummary,
  { operation, name }: OperationDefinitionNode,
): void {
  const attributes = {
    'graphql.operation.type': operation,
    ...(summary.isTrusted && name && { 'graphql.operation.name': name.value }),
  };
  summary.trace?.set(attributes);
  summary.trace ??= tracing.start({ name: operation, kind: 'SERVER', attributes });
}

const CLIENT_NAME = 'apollographql-client-name';
const CLIENT_VERSION = 'apollographql-client-version';

// The names are logged unchanged, so they cannot contain an e-mail address, a phone number, a token or a line break.
const NAME = /^(?!.*(?:\d{6}|eyJ))[a-z][\w ./-]{0,31}$/i;
const VERSION = /^(?!.*(?:\d{9}|eyJ))[\w.+-]{1,32}$/;

/**
 * The name and version that a client sends for itself, in headers or in `connectionParams`. Null if it sends no name, or one
 * that may not be logged.
 */
export function namingIn(headerOf: (name: string) => unknown): ClientNaming | null {
  const [name, version] = [headerOf(CLIENT_NAME), headerOf(CLIENT_VERSION)];
  if (typeof name !== 'string' || !NAME.test(name)) return null;
  return { name, version: typeof version === 'string' && VERSION.test(version) ? version : null };
}

// Short and without line breaks or tokens, because it is logged.
const ACCEPTED = /^(?!.*eyJ)[\w.:-]{1,128}$/;

/** Returns the client's own id if acceptable, otherwise a random one: a counter would show how busy the server is. */
function acceptedId(given: unknown): string {
  return typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}
