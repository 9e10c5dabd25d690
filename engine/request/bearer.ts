import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Token, toToken } from '../../lib/token.ts';
import type { AuthCookie } from './auth-cookie.ts';

/** The token of an `Authorization` value; null where there is none of the scheme. */
export function bearerToken(authorization: string, apart?: string): Token | null {
  const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return text === undefined ? null : toToken(text, apart);
}

interface LastSent {
  readonly authorization: string;
  readonly apart: string;
  readonly token: Token | null;
}

/** The tokens of requests: a client sends the same one with each request on its connection. `cookie`: where there is no header. */
export class BearerTokens {
  readonly cookie: AuthCookie | null;
  readonly #lastSent = new WeakMap<Socket, LastSent>();

  constructor(cookie: AuthCookie | null) {
    this.cookie = cookie;
  }

  of(request: IncomingMessage, apart = ''): Token | null {
    const { authorization } = request.headers;
    const { socket } = request;
    if (authorization === undefined) return this.cookie?.tokenOf(request, apart) ?? null;
    let last = this.#lastSent.get(socket);
    // The whole header is compared: behind a proxy the next request is another client's.
    if (last?.authorization !== authorization || last.apart !== apart) {
      last = { authorization, apart, token: bearerToken(authorization, apart) };
      this.#lastSent.set(socket, last);
    }
    return last.token;
  }
}
