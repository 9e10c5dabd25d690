import type { Client } from '../../../lib/limits/client.ts';
import type { EngineLimiter, LimitLabel } from '../../operation/limits.ts';

/** A message counts once more for each of this many bytes. */
export const COUNTED_BYTES = 16_384;

/** Counts everything that a client sends: operations, refused requests, pings and other messages. */
export class MessageBudget {
  readonly #limiter: EngineLimiter;
  readonly #refused: (limit: LimitLabel) => void;

  constructor(limiter: EngineLimiter, refused: (limit: LimitLabel) => void) {
    this.#limiter = limiter;
    this.#refused = refused;
  }

  /** Charges a message of this size to its client. Returns false if the client has sent too much. */
  take(client: Client, bytes = 0): boolean {
    const points = 1 + Math.floor(bytes / COUNTED_BYTES);
    if (this.#limiter.spend('messages', client, points).left >= 0) return true;
    this.#refused('messages');
    return false;
  }
}
