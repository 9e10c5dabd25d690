import { TOKEN_TEXT } from '../../lib/account.ts';
import { memo } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Token } from '../../lib/limits/request-caller.ts';
import { expiryOf } from './claims.ts';
import type { ProofLedger } from './proof.ts';
import { EXPIRY_LEEWAY_MS, TokenEndedError } from './token-errors.ts';

type Ended = (error: TokenEndedError) => void;

/** Notifies subscriptions of the end of their token: its expiry, or its refusal by the gateway. */
export class TokenEnds {
  readonly #clock: Clock;
  /** The subscriptions that end with a token. The keys are the hashes of the tokens. */
  readonly #watchers = new Map<string, Set<Ended>>();

  constructor(ledger: Pick<ProofLedger, 'onRefused'>, clock: Clock) {
    this.#clock = clock;
    ledger.onRefused(({ tokenHash }) => {
      const error = new TokenEndedError('UNAUTHENTICATED', 'an operation refused the token');
      for (const ended of this.#watchers.get(tokenHash) ?? []) ended(error);
    });
  }

  /** Returns a function that stops watching. */
  watch({ [TOKEN_TEXT]: text, hash }: Token, ended: Ended): () => void {
    const watchers = memo<string, Set<Ended>>(this.#watchers, hash, () => new Set());
    watchers.add(ended);
    const cancelExpiry = this.#onExpiry(expiryOf(text), ended);
    return () => {
      cancelExpiry();
      watchers.delete(ended);
      if (watchers.size === 0) this.#watchers.delete(hash);
    };
  }

  #onExpiry(expiresAtMs: number | null, ended: Ended): () => void {
    if (expiresAtMs === null) return () => {};
    const nowMs = this.#clock.date();
    // A token that is used after its expiry is valid until the leeway is over.
    const endsAtMs = nowMs < expiresAtMs ? expiresAtMs : expiresAtMs + EXPIRY_LEEWAY_MS;
    const error = new TokenEndedError('UNAUTHENTICATED', 'the token has expired');
    return this.#clock.after(endsAtMs - nowMs, () => ended(error));
  }
}
