import type { Caller } from './caller.ts';
import { byOperation, type Operation, type OperationName } from './operations.ts';
import { createPath, type PathValues } from './path.ts';

export interface RequestSettings {
  /** Fixed headers of each call, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly forwardClient: boolean;
  readonly timeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly catalogTimeoutMs: number;
  readonly maxBytes: number;
  readonly catalogMaxBytes: number;
}

/** The parts that all requests of an operation share, made once. */
export interface RequestTemplate {
  readonly path: (values: PathValues) => string;
  /** Names and values alternate; `more` are those of this one request. */
  readonly headers: (caller: Caller, more: readonly string[]) => string[];
  readonly isAnonymous: boolean;
  readonly deadlineMs: number;
  readonly maxBytes: number;
}

export function requestTemplates(
  settings: RequestSettings,
): Readonly<Record<OperationName, RequestTemplate>> {
  return byOperation((operation) => templateOf(operation, settings));
}

function templateOf(operation: Operation, settings: RequestSettings): RequestTemplate {
  const { timeoutMs, orderTimeoutMs, catalogTimeoutMs, maxBytes, catalogMaxBytes } = settings;
  return {
    path: createPath(operation),
    headers: createHeaders(operation, settings),
    isAnonymous: operation.isAnonymous,
    ...{
      usual: { deadlineMs: timeoutMs, maxBytes },
      order: { deadlineMs: orderTimeoutMs, maxBytes },
      catalog: { deadlineMs: catalogTimeoutMs, maxBytes: catalogMaxBytes },
    }[operation.bounds],
  };
}

function createHeaders(
  { verb }: Operation,
  { headers, forwardClient }: RequestSettings,
): RequestTemplate['headers'] {
  const fixed = Object.entries({
    accept: 'application/json',
    // Every request but a read has a body.
    ...(verb !== 'GET' && { 'content-type': 'application/json' }),
    ...headers,
  }).flat();
  const namesAddress = forwardClient && !Object.hasOwn(headers, 'x-forwarded-for');
  const namesAgent = forwardClient && !Object.hasOwn(headers, 'user-agent');
  const namesRequest = !Object.hasOwn(headers, 'x-request-id');
  const forwards = forwardsTrace(headers);
  return ({ token, client, requestId, trace }, more) => {
    const all = fixed.concat(more);
    if (namesRequest && requestId !== undefined) all.push('x-request-id', requestId);
    if (forwards && trace !== undefined) all.push(...trace.headers);
    if (token !== null) all.push('authorization', `Bearer ${token}`);
    if (client === undefined) return all;
    if (namesAddress) all.push('x-forwarded-for', client.address);
    if (namesAgent && client.userAgent) all.push('user-agent', client.userAgent);
    return all;
  };
}

/** Fixed headers win: of the headers that carry a trace all are a request's own, or none is. */
export function forwardsTrace(headers: RequestSettings['headers']): boolean {
  return !['traceparent', 'tracestate', 'baggage'].some((name) => Object.hasOwn(headers, name));
}
