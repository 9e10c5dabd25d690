import type { IncomingMessage } from 'node:http';
import { TOKEN_TEXT } from '../../lib/account.ts';
import { type Token, toToken } from '../../lib/limits/request-caller.ts';
import { isLocal } from './client-address.ts';
import type { Connection } from './open-connections.ts';

/**
 * The text of a token: that of `Authorization`, or of the cookie if that value identifies no user. Undefined if there is
 * none, or the scheme is not Bearer.
 */
export function tokenText(
  authorization: string,
  cookieText: () => string | undefined,
): string | undefined {
  if (!isOfUser(authorization)) return cookieText();
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/**
 * Whether an `Authorization` value identifies a user, so that the cookie is ignored. The value is empty if a client has no
 * token, and `Basic` if a browser signs in to the site.
 */
export function isOfUser(authorization = ''): boolean {
  return authorization !== '' && !/^Basic(?: |$)/i.test(authorization);
}

/**
 * The token of a request: of its header, or of the cookie if the header has none. `digest`: the digest of the forwarded
 * headers. A client sends the same token with each request of a connection, so it is hashed once.
 */
export function tokenOf(
  { headers }: IncomingMessage,
  connection: Connection,
  cookie: AuthCookie | null,
  digest = '',
): Token | null {
  const text = tokenText(headers.authorization ?? '', () => cookie?.textIn(headers.cookie ?? ''));
  if (!text) return null;
  const { lastToken } = connection;
  if (lastToken?.token[TOKEN_TEXT] === text && lastToken.digest === digest) return lastToken.token;
  const token = toToken(text, digest);
  connection.lastToken = { token, digest };
  return token;
}

export interface AuthCookieOptions {
  readonly name: string;
  /** When a token expires, in milliseconds; null if unknown. */
  readonly expiryOf: (token: string) => number | null;
  /** The path prefix below which a browser sends the cookie; '' for none. */
  readonly publicPath: string;
}

// Browsers drop longer values. A value with a `;` would set attributes of its own.
const COOKIE_VALUE = /^[\w.~+/=-]{1,3900}$/;

export type AuthCookie = ReturnType<typeof createAuthCookie>;

/** A cookie with the token of a page's visitor. No script of the page can read the cookie. */
export function createAuthCookie({ name, expiryOf, publicPath }: AuthCookieOptions) {
  const path = `; Path=${publicPath}/graphql`;

  /** The text of the token in a `Cookie` header. The first of several cookies counts: its path is the most specific. */
  function textIn(header: string): string | undefined {
    const pairs = header.split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  }

  /** The value of `Set-Cookie` for a newly issued token; null if a cookie cannot carry it. */
  function issued(token: string, request: IncomingMessage): string | null {
    if (!COOKIE_VALUE.test(token)) return null;
    const endsAtMs = expiryOf(token);
    const until = endsAtMs === null ? '' : `; Expires=${new Date(endsAtMs).toUTCString()}`;
    return `${name}=${token}${until}${path}${attributesFor(request)}`;
  }

  function cleared(request: IncomingMessage): string {
    return `${name}=; Max-Age=0${path}${attributesFor(request)}`;
  }

  return { textIn, issued, cleared };
}

/**
 * Browsers accept no secure cookie without TLS, not even from their own machine. A proxy may have set a local `Host`, so
 * the page's origin has to be local as well.
 */
function attributesFor({ headers: { host, origin = `http://${host}` } }: IncomingMessage): string {
  const isPlain = origin.startsWith('http:') && isLocal(origin) && isLocal(`http://${host}`);
  const secure = isPlain ? '' : '; Secure';
  return `; HttpOnly${secure}; SameSite=Lax`;
}
