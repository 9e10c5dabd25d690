import type { IncomingMessage } from 'node:http';
import { isLocal } from './local-address.ts';

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
