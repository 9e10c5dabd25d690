import { hash } from 'node:crypto';

let lastToken: string | null = null;
let lastHash = '';

/**
 * Hashes a token, since caches are keyed by the hash: a memory dump should not be a list of
 * sessions to take over. The last hash is memoized, because one request needs it several times.
 */
export function tokenHash(token: string): string {
  if (token !== lastToken) recall(token, hash('sha256', token, 'hex'));
  return lastHash;
}

function recall(token: string, itsHash: string): void {
  lastToken = token;
  lastHash = itsHash;
}

/** The token of a connection, hashed once for all its requests. */
export class RecurringToken {
  readonly #token: string;
  readonly #hash: string;

  constructor(token: string) {
    this.#token = token;
    this.#hash = tokenHash(token);
  }

  /** Returns the token, and memoizes its hash for the next `tokenHash`. */
  get text(): string {
    recall(this.#token, this.#hash);
    return this.#token;
  }
}
