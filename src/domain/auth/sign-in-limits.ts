import { hash } from 'node:crypto';
import { addressKey } from '../../lib/address-key.ts';
import type { RateCounter, RateCounters } from '../../store/rate-counters.ts';
import { TooManyAttemptsError } from './errors.ts';

export interface SignInLimitsOptions {
  readonly counters: RateCounters;
  /** Attempts per address and e-mail. */
  readonly perMinute: number;
}

// An office or a mobile network has many users behind one address, while one user has few addresses.
const PER_ADDRESS = 30;
const PER_EMAIL = 10;
const MINUTE = 60;

/** Rate-limits the `login` field, so that passwords cannot be tried in bulk. */
export class SignInLimits {
  readonly #byAddress: RateCounter;
  readonly #byPair: RateCounter;
  readonly #byEmail: RateCounter;

  constructor({ counters, perMinute }: SignInLimitsOptions) {
    const rule = (times: number) => ({ limit: times * perMinute, windowSeconds: MINUTE });
    this.#byAddress = counters.counter('login-address', rule(PER_ADDRESS));
    this.#byPair = counters.counter('login-pair', rule(1));
    this.#byEmail = counters.counter('login-email', rule(PER_EMAIL));
  }

  /** Throws where one of the limits is exceeded. */
  async take(address: string | undefined, email: string): Promise<void> {
    const from = addressKey(address ?? '');
    const who = hash('sha256', email.normalize('NFKC').trim().toLowerCase(), 'base64url');
    await this.#count(this.#byAddress, from);
    // Counted before the e-mail's own limit: one address alone must not lock a user out everywhere.
    await this.#count(this.#byPair, `${from} ${who}`);
    await this.#count(this.#byEmail, who);
  }

  async #count(counter: RateCounter, key: string): Promise<void> {
    const { isOver, resetMs } = await counter.take(key);
    if (isOver) {
      const seconds = Math.max(1, Math.ceil(resetMs / 1000));
      throw new TooManyAttemptsError(seconds, 'LOGIN_LIMIT_PER_MINUTE');
    }
  }
}
