import { hash } from 'node:crypto';

let lastToken: string | null = null;
let lastHash = '';

/**
 * What is kept for a token is kept under its hash: a dump of this process's memory should not be a
 * list of sessions to take over. Several parts of one request ask in turn, so the last is remembered.
 */
export function tokenHash(token: string): string {
  if (token !== lastToken) recall(token, hash('sha256', token, 'hex'));
  return lastHash;
}

function recall(token: string, itsHash: string): void {
  lastToken = token;
  lastHash = itsHash;
}

/** A token that comes again and again, on one connection: hashed once. */
export class RecurringToken {
  readonly #token: string;
  readonly #hash: string;

  constructor(token: string) {
    this.#token = token;
    this.#hash = tokenHash(token);
  }

  /** The token, whose hash is at hand for who asks next. */
  get text(): string {
    recall(this.#token, this.#hash);
    return this.#token;
  }
}
