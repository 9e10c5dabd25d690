import { memo } from '../lib/memo.ts';
import type { Caller } from './caller.ts';
import { type PathValueSource, UnsafePathError } from './errors.ts';
import type { WireCall } from './exchange.ts';
import {
  type CallDescription,
  type DescribedOperation,
  type GatewayOperation,
  TRADE,
} from './operation.ts';

// A catalog has thousands of instruments, and is fetched once an hour.
const CATALOG_TIMEOUT_FACTOR = 6;
const CATALOG_SIZE_FACTOR = 16;

export interface RequestSettings {
  /** Fixed headers of each call, in lower case. */
  readonly gatewayHeaders: Readonly<Record<string, string>>;
  readonly gatewayForwardClient: boolean;
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly gatewayMaxBytes: number;
}

/** The parts in which two requests of the same call and caller differ. */
export interface CallValues {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
}

/** A look-up of an order is sent like a read, and leaves the orders' connections to orders. */
const LOOK_UP = {
  effect: 'read',
  area: 'reads',
  backend: 'reads',
  mayHaveAged: false,
} as const;

/** Builds the calls of operations in the form in which they are sent. */
export class Requests {
  readonly #settings: RequestSettings;
  readonly #rows = new Map<CallDescription, GatewayOperation>();

  constructor(settings: RequestSettings) {
    this.#settings = settings;
  }

  call(operation: DescribedOperation, name: string, caller: Caller, values: CallValues): WireCall {
    const { path = {}, query, body } = values;
    const row = this.#rowOf(operation, name);
    return {
      operation: row.name,
      row,
      caller,
      path: withQuery(filledPath(row, path), query),
      headers: headersOf(row, caller, values, this.#settings),
      body: body === undefined ? null : JSON.stringify(body),
      ...boundsOf(row, this.#settings),
      signal: row.effect === 'read' ? caller.signal : undefined,
    };
  }

  #rowOf(operation: DescribedOperation, name: string): GatewayOperation {
    const call = operation.calls[name];
    if (call === undefined) throw new Error(`${operation.name} has no call ${name}`);
    return memo(this.#rows, call, () => {
      const isLookUp = operation.effect === 'order' && name !== TRADE;
      return { ...operation, ...(isLookUp && LOOK_UP), verb: call.method, path: call.path };
    });
  }
}

function boundsOf({ bounds, effect }: GatewayOperation, settings: RequestSettings) {
  const { gatewayTimeoutMs, orderTimeoutMs, gatewayMaxBytes: maxBytes } = settings;
  if (effect === 'order') return { deadlineMs: orderTimeoutMs, maxBytes };
  if (bounds === 'usual') return { deadlineMs: gatewayTimeoutMs, maxBytes };
  return {
    deadlineMs: CATALOG_TIMEOUT_FACTOR * gatewayTimeoutMs,
    maxBytes: CATALOG_SIZE_FACTOR * maxBytes,
  };
}

function withQuery(path: string, query: CallValues['query']): string {
  const search = query === undefined ? '' : new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Names and values alternate. A fixed header replaces another one of the same name. */
function headersOf(
  { isAnonymous }: GatewayOperation,
  { token, client, requestId, forwarded }: Caller,
  { body, headers: own = [] }: CallValues,
  { gatewayHeaders: fixed, gatewayForwardClient }: RequestSettings,
): readonly string[] {
  const headers: string[] = [];
  const add = (name: string, value: string | null | undefined) => {
    if (value && !Object.hasOwn(fixed, name)) headers.push(name, value);
  };
  add('accept', 'application/json');
  if (body !== undefined) add('content-type', 'application/json');
  for (const name in fixed) headers.push(name, fixed[name] ?? '');
  headers.push(...own, ...(forwarded?.pairs ?? []));
  add('x-request-id', requestId);
  if (token !== null && !isAnonymous) headers.push('authorization', `Bearer ${token.text}`);
  if (gatewayForwardClient) {
    add('x-forwarded-for', client?.address);
    add('user-agent', client?.userAgent);
  }
  return headers;
}

/**
 * Fills in the `{name}` segments of an operation's path. Percent-encoding is not enough: servers and proxies decode before
 * they resolve dots, so a value that could leave its segment is never sent.
 */
export function filledPath(
  { path, effect }: Pick<GatewayOperation, 'path' | 'effect'>,
  values: NonNullable<CallValues['path']>,
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = encodedSegment(values[name] ?? '');
    if (segment !== null) return segment;
    // A mutation has one argument, `input`, and the value is one of its fields.
    const argument = effect === 'read' ? name : `input.${name}`;
    throw new UnsafePathError(name, SOURCES[name] ?? { argument });
  });
}

/** The parameters whose value the client does not choose. Any other parameter is an argument of the same name. */
const SOURCES: Readonly<Record<string, PathValueSource>> = {
  login: 'token',
  group: 'token',
  provider: 'setting',
};

/** Null if the value cannot be one segment. */
function encodedSegment(value: string): string | null {
  const isUnsafe = value === '' || /\p{Cc}/u.test(value) || climbs(value);
  // A lone surrogate has no UTF-8 form.
  return isUnsafe || !value.isWellFormed() ? null : encodeURIComponent(value);
}

function climbs(value: string): boolean {
  return value.split(/[/\\]/).some((part) => part === '.' || part === '..');
}
