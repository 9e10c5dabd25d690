import { memo } from '../lib/memo.ts';
import type { Caller } from './caller.ts';
import { type PathValueSource, UnsafePathError } from './errors.ts';
import type { WireCall } from './exchange.ts';
import { type DescribedOperation, type GatewayOperation, TRADE } from './operation.ts';

// A catalog has thousands of instruments, and is fetched once an hour.
const CATALOG_TIMEOUT_FACTOR = 6;
const CATALOG_SIZE_FACTOR = 16;

export interface RequestSettings {
  /** Fixed headers of each call, in lower case. */
  readonly gatewayHeaders: Readonly<Record<string, string>>;
  readonly gatewayForwardClient: boolean;
  /** Names of the headers that each request's calls carry on. */
  readonly gatewayForwardHeaders: readonly string[];
  readonly gatewayTimeoutMs: number;
  readonly orderTimeoutMs: number;
  readonly gatewayMaxBytes: number;
}

/** The parts in which two requests of one call and caller differ. */
export interface CallValues {
  readonly path?: PathValues;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
  readonly sendBeforeMs?: number | null | undefined;
}

type Template = (caller: Caller, values: CallValues) => WireCall;

/** A look-up of an order goes the way of reads, and leaves the orders' connections to orders. */
const LOOK_UP = {
  effect: 'read',
  isIdempotent: true,
  area: 'reads',
  backend: 'reads',
  bounds: 'usual',
  mayHaveAged: false,
} as const;

/** Makes the calls of operations; the parts that all requests of one share are made once. */
export class RequestTemplates {
  readonly #settings: RequestSettings;
  readonly #made = new Map<DescribedOperation, Map<string, Template>>();

  constructor(settings: RequestSettings) {
    this.#settings = settings;
  }

  call(operation: DescribedOperation, name: string): Template {
    const ofOperation = memo(this.#made, operation, () => new Map<string, Template>());
    return memo(ofOperation, name, () => {
      const call = operation.calls[name];
      if (call === undefined) throw new Error(`${operation.name} has no call ${name}`);
      const isLookUp = operation.effect === 'order' && name !== TRADE;
      const row = { ...operation, ...(isLookUp && LOOK_UP), verb: call.method, path: call.path };
      return templateOf(row, this.#settings);
    });
  }
}

function templateOf(row: GatewayOperation, settings: RequestSettings): Template {
  const pathOf = createPath(row);
  const headersOf = createHeaders(row, settings);
  const maxBytes = settings.gatewayMaxBytes;
  const bounds = {
    usual: { deadlineMs: settings.gatewayTimeoutMs, maxBytes },
    order: { deadlineMs: settings.orderTimeoutMs, maxBytes },
    catalog: {
      deadlineMs: CATALOG_TIMEOUT_FACTOR * settings.gatewayTimeoutMs,
      maxBytes: CATALOG_SIZE_FACTOR * maxBytes,
    },
  }[row.bounds];
  return (caller, { path = {}, query, body, headers = [], sendBeforeMs }) => ({
    operation: row.name,
    row,
    caller,
    path: query === undefined ? pathOf(path) : withQuery(pathOf(path), query),
    headers: headersOf(caller, headers),
    body: body === undefined ? null : JSON.stringify(body),
    ...bounds,
    sendBeforeMs: sendBeforeMs ?? undefined,
    signal: row.effect === 'read' ? caller.signal : undefined,
  });
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

function createHeaders(
  { verb, isAnonymous }: GatewayOperation,
  {
    gatewayHeaders: headers,
    gatewayForwardClient: forwards,
    gatewayForwardHeaders: { length: carried },
  }: RequestSettings,
) {
  const fixed = Object.entries({
    accept: 'application/json',
    // Servers refuse an empty body that is announced as JSON; a DELETE that has one brings the header along.
    ...(verb !== 'GET' && verb !== 'DELETE' && { 'content-type': 'application/json' }),
    ...headers,
  }).flat();
  const namesAddress = forwards && !Object.hasOwn(headers, 'x-forwarded-for');
  const namesAgent = forwards && !Object.hasOwn(headers, 'user-agent');
  const namesRequest = !Object.hasOwn(headers, 'x-request-id');
  /** Names and values alternate; `more` are those of this one request. */
  return (caller: Caller, more: readonly string[]) => {
    const { token, client, requestId, forwarded } = caller;
    const all = fixed.concat(more);
    if (carried > 0 && forwarded !== undefined) all.push(...forwarded.pairs);
    if (namesRequest && requestId !== undefined) all.push('x-request-id', requestId);
    if (token !== null && !isAnonymous) all.push('authorization', `Bearer ${token.text}`);
    if (client === undefined) return all;
    if (namesAddress) all.push('x-forwarded-for', client.address);
    if (namesAgent && client.userAgent) all.push('user-agent', client.userAgent);
    return all;
  };
}

type PathValues = Readonly<Record<string, string>>;

/**
 * Fills in the `{name}` segments of an operation's path. Percent-encoding alone is not enough: servers and proxies
 * decode before they resolve dots, so a value that could climb is never sent.
 */
export function createPath({
  path: template,
  effect,
}: Pick<GatewayOperation, 'path' | 'effect'>): (values: PathValues) => string {
  const unsafe = (name: string) => {
    // Mutations have one argument, `input`, whose field it is.
    const argument = effect === 'read' ? name : `input.${name}`;
    return new UnsafePathError(name, SOURCES[name] ?? { argument });
  };
  // The literal parts and the names alternate.
  const [first = '', ...rest] = template.split(/\{(\w+)\}/);
  if (rest.length === 0) return () => first;
  return (values) => {
    let path = first;
    for (let index = 0; index < rest.length; index += 2) {
      const name = rest[index] ?? '';
      path += encodeSegment(name, values[name] ?? '', unsafe) + rest[index + 1];
    }
    return path;
  };
}

/** The parameters whose value the client does not choose; every other one is an argument of the same name. */
const SOURCES: Readonly<Record<string, PathValueSource>> = {
  login: 'token',
  group: 'token',
  provider: 'setting',
};

function encodeSegment(
  name: string,
  value: string,
  unsafe: (name: string) => UnsafePathError,
): string {
  if (value === '' || /\p{Cc}/u.test(value) || climbs(value)) throw unsafe(name);
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no UTF-8 to encode.
    throw unsafe(name);
  }
}

function climbs(value: string): boolean {
  return value.split(/[/\\]/).some((part) => part === '.' || part === '..');
}
