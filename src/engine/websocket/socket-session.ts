import type { IncomingMessage } from 'node:http';
import { type RequestCaller, toToken } from '../../lib/limits/request-caller.ts';
import { type ClientNaming, namingIn } from '../core/request-summary.ts';
import { tokenText } from '../requests/tokens.ts';
import type { TransportServices } from '../requests/transport-services.ts';

// The limit of an HTTP request's headers.
const MAX_AUTHORIZATION_LENGTH = 16_384;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,1024}$/;

/** The identity of a socket's client, from its upgrade and its `connectionParams`. */
export class SocketSession {
  readonly requestId: string | string[] | undefined;
  /** The caller of operations. It has no token before `connection_init`. */
  caller: RequestCaller;
  naming: ClientNaming | null;
  /** How the client wants to be informed that its token has ended. */
  onTokenEnd: 'close' | 'error' = 'close';
  /** The forwarded headers, from `connectionParams` and the upgrade; those of the upgrade take precedence. */
  headers: Readonly<Record<string, string>> = {};
  readonly #services: TransportServices;
  /** The token in the page visitor's cookie, for a client that sends no token. */
  readonly #cookieText: string | undefined;
  /** The forwarded headers of the upgrade, where a proxy sets them as in any request. */
  readonly #upgraded: Readonly<Record<string, string>>;

  constructor(request: IncomingMessage, services: TransportServices) {
    const { addresses, cookie, forwarding } = services;
    const { headers } = request;
    this.#services = services;
    this.requestId = headers['x-request-id'];
    const { origin } = headers;
    this.caller = { token: null, sender: addresses.senderOf(request) };
    this.naming = namingIn((name) => headers[name]);
    // A browser names the page in `Origin`, and foreign pages were refused. If `Origin` is missing, another page may have
    // sent the cookie.
    this.#cookieText = cookie?.textIn(origin === undefined ? '' : (headers.cookie ?? ''));
    this.#upgraded = forwarding.headersIn(headers);
  }

  /** Reads `connectionParams`. Returns false if they are malformed. Each operation checks the token when it needs it. */
  initialize(params: unknown): boolean {
    const { forwarding, tokenStatusOf } = this.#services;
    const authorization = textIn(params, 'authorization');
    const given = headersIn(params, forwarding.names);
    if (given === null || authorization.length > MAX_AUTHORIZATION_LENGTH) return false;
    this.headers = { ...given, ...this.#upgraded };
    const forwarded = forwarding.forwarded(this.headers);
    const text = tokenText(authorization, () => this.#cookieText);
    const token = text ? toToken(text, forwarded?.digest) : null;
    this.caller = {
      token,
      tokenStatus: tokenStatusOf(token),
      sender: this.caller.sender,
      forwarded,
    };
    if (textIn(params, 'ontokenend') === 'error') this.onTokenEnd = 'error';
    this.naming ??= namingIn((name) => textIn(params, name));
    return true;
  }
}

/**
 * The forwarded headers in `connectionParams.headers`, by their names in lower case. Null if a header cannot be forwarded
 * or is given twice: if it were left out, the operations could belong to another tenant.
 */
function headersIn(
  params: unknown,
  forwarded: readonly string[],
): Readonly<Record<string, string>> | null {
  const { headers } = (params ?? {}) as { readonly headers?: unknown };
  const found: Record<string, string> = {};
  for (const [given, value] of Object.entries(headers ?? {})) {
    const name = given.toLowerCase();
    if (!forwarded.includes(name)) continue;
    const isValid = typeof value === 'string' && HEADER_VALUE.test(value);
    if (!isValid || Object.hasOwn(found, name)) return null;
    found[name] = value;
  }
  return found;
}

/** A text in `connectionParams`; '' if missing. Client libraries differ in the case of the key. */
function textIn(params: unknown, name: string): string {
  const entry = Object.entries(params ?? {}).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}
