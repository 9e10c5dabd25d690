import { TOKEN_TEXT } from '../lib/account.ts';
import type { Caller, WireCall } from './exchange.ts';
import { UnsafePathError } from './gateway-error.ts';
import { type DescribedOperation, type OperationTraits, TRADE } from './operation-traits.ts';
import { BEFORE_TOKEN, TOKEN_HEADER } from './operations/conventions.ts';

// A catalog has thousands of instruments and is fetched once an hour, so it is allowed more time and more bytes.
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

/** A body. Neither a login nor an account is a part of it. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject;
interface JsonObject {
  readonly [name: string]: Json;
}

/** The parts in which two requests of the same call and caller differ. */
export interface CallValues {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
}

/** A look-up of an order is a read on the connections of reads, and never takes an answer from a cache. */
const LOOK_UP = { effect: 'read', area: 'reads', acceptsCached: false } as const;

/** Builds the calls of operations in the form in which they are sent. */
export class Requests {
  readonly #settings: RequestSettings;
  /** The headers that are equal in all calls. Names and values alternate. */
  readonly #headers: readonly string[];

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    // A fixed `accept` replaces this one.
    const headers = { accept: 'application/json', ...settings.gatewayHeaders };
    this.#headers = Object.entries(headers).flat();
  }

  call(operation: DescribedOperation, name: string, caller: Caller, values: CallValues): WireCall {
    const { path = {}, query, body } = values;
    const description = operation.calls[name];
    if (description === undefined) throw new Error(`${operation.name} has no call ${name}`);
    const isLookUp = operation.effect === 'order' && name !== TRADE;
    const traits: OperationTraits = isLookUp ? { ...operation, ...LOOK_UP } : operation;
    return {
      operation: traits,
      description,
      caller,
      path: withQuery(filledPath(description.path, path, traits.effect), query),
      headers: this.#headersOf(traits, caller, values),
      body: body === undefined ? null : JSON.stringify(body),
      deadlineMs: this.#deadlineMs(traits),
      maxBytes: this.#maxBytes(traits),
    };
  }

  #deadlineMs({ effect, bounds }: OperationTraits): number {
    const { gatewayTimeoutMs, orderTimeoutMs } = this.#settings;
    if (effect === 'order') return orderTimeoutMs;
    return bounds === 'catalog' ? CATALOG_TIMEOUT_FACTOR * gatewayTimeoutMs : gatewayTimeoutMs;
  }

  #maxBytes({ bounds }: OperationTraits): number {
    const { gatewayMaxBytes } = this.#settings;
    return bounds === 'catalog' ? CATALOG_SIZE_FACTOR * gatewayMaxBytes : gatewayMaxBytes;
  }

  #headersOf(
    { isAnonymous }: OperationTraits,
    { token, sender, requestId, forwarded }: Caller,
    { body, headers: callHeaders = [] }: CallValues,
  ): readonly string[] {
    const headers = this.#headers.concat(callHeaders, forwarded?.pairs ?? []);
    if (body !== undefined) headers.push('content-type', 'application/json');
    if (token !== null && !isAnonymous)
      headers.push(TOKEN_HEADER, BEFORE_TOKEN + token[TOKEN_TEXT]);
    this.#addUnlessFixed(headers, 'x-request-id', requestId);
    if (this.#settings.gatewayForwardClient) {
      this.#addUnlessFixed(headers, 'x-forwarded-for', sender?.address);
      this.#addUnlessFixed(headers, 'user-agent', sender?.userAgent);
    }
    return headers;
  }

  #addUnlessFixed(headers: string[], name: string, value: string | null | undefined): void {
    if (value && !Object.hasOwn(this.#settings.gatewayHeaders, name)) headers.push(name, value);
  }
}

function withQuery(path: string, query: CallValues['query']): string {
  const search = query === undefined ? '' : new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

/**
 * Fills in the `{name}` segments of an operation's path. Percent-encoding is not enough: servers and proxies decode before
 * they resolve dots, so a value that could leave its segment is never sent.
 */
export function filledPath(
  template: string,
  values: NonNullable<CallValues['path']>,
  effect: OperationTraits['effect'],
): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = encodedSegment(values[name] ?? '');
    if (segment !== null) return segment;
    // A mutation has one argument, `input`, and the value is one of its fields.
    const argument = effect === 'read' ? name : `input.${name}`;
    throw new UnsafePathError(name, OF_TOKENS.has(name) ? null : argument);
  });
}

/** The parameters whose value is a claim of a token. Any other parameter is an argument of the same name. */
const OF_TOKENS: ReadonlySet<string> = new Set(['login', 'group']);

/** Null if the value cannot be one segment. */
function encodedSegment(value: string): string | null {
  const isUnsafe = value === '' || /\p{Cc}/u.test(value) || hasDotSegment(value);
  // A lone surrogate has no UTF-8 form.
  return isUnsafe || !value.isWellFormed() ? null : encodeURIComponent(value);
}

function hasDotSegment(value: string): boolean {
  return value.split(/[/\\]/).some((part) => part === '.' || part === '..');
}
