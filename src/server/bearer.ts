import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { RecurringToken } from '../lib/token-hash.ts';

/** The token of an `Authorization` value; null where there is none of the scheme. */
export function bearerToken(authorization: unknown): string | null {
  if (typeof authorization !== 'string') return null;
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

interface LastSent {
  readonly authorization: string;
  readonly token: RecurringToken | null;
}

/** The tokens of requests: a client sends the same one with each request on its connection. */
export class BearerTokens {
  readonly #lastSent = new WeakMap<Socket, LastSent>();

  of({ headers: { authorization }, socket }: IncomingMessage): string | null {
    if (authorization === undefined) return null;
    let last = this.#lastSent.get(socket);
    // The whole header is compared: behind a proxy the next request is another client's.
    if (last?.authorization !== authorization) {
      const token = bearerToken(authorization);
      last = { authorization, token: token === null ? null : new RecurringToken(token) };
      this.#lastSent.set(socket, last);
    }
    return last.token === null ? null : last.token.text;
  }
}
