import type { Caller } from './caller.ts';
import { OPERATIONS, type Operation, type OperationName } from './operations.ts';
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
  readonly deadlineMs: number;
  readonly maxBytes: number;
}

export function requestTemplates(
  settings: RequestSettings,
): Readonly<Record<OperationName, RequestTemplate>> {
  const names = Object.keys(OPERATIONS) as OperationName[];
  const plans = names.map((name) => [name, planOf(name, settings)] as const);
  return Object.fromEntries(plans) as Record<OperationName, RequestTemplate>;
}

function planOf(name: OperationName, settings: RequestSettings): RequestTemplate {
  const operation: Operation = OPERATIONS[name];
  const isCatalog = name === 'getAllTickers';
  const { timeoutMs, orderTimeoutMs, catalogTimeoutMs, maxBytes, catalogMaxBytes } = settings;
  return {
    path: createPath(operation.path),
    headers: createHeaders(operation, settings),
    deadlineMs:
      operation.effect === 'order' ? orderTimeoutMs : isCatalog ? catalogTimeoutMs : timeoutMs,
    maxBytes: isCatalog ? catalogMaxBytes : maxBytes,
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
  return ({ token, client }, more) => {
    const all = fixed.concat(more);
    if (token !== null) all.push('authorization', `Bearer ${token}`);
    if (client === undefined) return all;
    if (namesAddress) all.push('x-forwarded-for', client.address);
    if (namesAgent && client.userAgent) all.push('user-agent', client.userAgent);
    return all;
  };
}
