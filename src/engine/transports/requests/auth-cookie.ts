import type { IncomingMessage } from 'node:http';
import { isLocal } from './local-address.ts';

export interface AuthCookieOptions {
  readonly name: string;
  /** The code of the error by which a token is refused: an answer with it clears the cookie. */
  readonly refusedBy: string;
  /** The time at which a token ends; null where it does not say. */
  readonly expiryOf: (token: string) => number | null;
  /** The path prefix below which a browser sends it; '' for none. */
  readonly publicPath: string;
}

// Browsers drop longer ones, and one with a `;` would have attributes of its own.
const COOKIE_VALUE = /^[\w.~+/=-]{1,3900}$/;

export type AuthCookie = ReturnType<typeof createAuthCookie>;

/** A cookie that carries the token of a page's visitor, which no script of the page can read. */
export function createAuthCookie({ name, refusedBy, expiryOf, publicPath }: AuthCookieOptions) {
  const path = `; Path=${publicPath}/graphql`;

  /** The text of the token in a `Cookie` header. Of several the first counts: it is the one with the most specific path. */
  function textIn(header: string): string | undefined {
    const pairs = header.split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  }

  /** The value of `Set-Cookie` for a token that was just issued; null where a cookie cannot carry it. */
  function issued(token: string, request: IncomingMessage): string | null {
    if (!COOKIE_VALUE.test(token)) return null;
    const endsAtMs = expiryOf(token);
    const until = endsAtMs === null ? '' : `; Expires=${new Date(endsAtMs).toUTCString()}`;
    return `${name}=${token}${until}${path}${attributesFor(request)}`;
  }

  function cleared(request: IncomingMessage): string {
    return `${name}=; Max-Age=0${path}${attributesFor(request)}`;
  }

  return { refusedBy, textIn, issued, cleared };
}

/**
 * Without TLS a browser takes no secure cookie, not even from its own machine. A local `Host` may be a proxy's, so the page's
 * origin has to be local as well.
 */
function attributesFor({ headers: { host, origin = `http://${host}` } }: IncomingMessage): string {
  const isPlain = origin.startsWith('http:') && isLocal(origin) && isLocal(`http://${host}`);
  const secure = isPlain ? '' : '; Secure';
  return `; HttpOnly${secure}; SameSite=Lax`;
}
