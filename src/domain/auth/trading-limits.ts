import { hash } from 'node:crypto';
import type { Caller } from '../../gateway/exchange.ts';
import { GatewayError } from '../../gateway/gateway-error.ts';
import type { SignIn } from '../../gateway/operations/login.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import { perMinute } from '../../lib/limits/limit.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import {
  accountClient,
  addressClient,
  type Client,
  regarding,
  singleClient,
  toToken,
} from '../../lib/limits/request-caller.ts';
import { PublicError, type Shown } from '../../lib/public-error.ts';
import type { AccountProof } from './proof.ts';

export interface TradingLimitSettings {
  readonly rateLimitPerMinute: number;
  readonly loginLimitPerMinute: number;
}

// The lowest limit of orders in a minute: more than a person or a retail program needs.
const MIN_ORDERS = 600;

/** The limits on this service's operations. A `pair` is an address with an e-mail. */
export const TRADING_LIMITS = {
  // Many users of an office or a mobile network share one address, while one user has few addresses.
  login: perMinute(
    'LOGIN_LIMIT_PER_MINUTE',
    '`login` in a minute',
    ({ loginLimitPerMinute: max }: TradingLimitSettings) => ({
      pair: max,
      address: 30 * max,
      email: 10 * max,
    }),
  ),
  forgotPassword: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({
    address: 30,
  })),
  /** Mails to one e-mail address: three at first, then one every ten minutes, which refills all three in 30 minutes. */
  resets: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({ email: 3 }), 1 / 30),
  /** Lower than the limit of all requests, because each order is also a write to the store. */
  orders: perMinute(
    'orders',
    'orders in a minute',
    ({ rateLimitPerMinute: rate }: TradingLimitSettings) => ({
      account: Math.max(MIN_ORDERS, rate / 2),
    }),
  ),
  /** Each write without a limit above, such as a new alert. */
  writes: perMinute('writes', 'each other small write in a minute', () => ({
    account: 60,
    address: 300,
  })),
  /** Gateway calls with unknown tokens. */
  proofs: perMinute('unknown tokens', 'unknown tokens in a minute', () => ({ address: 60 })),
};

export type TradingLimitName = keyof typeof TRADING_LIMITS;
export type TradingLimitLabel = (typeof TRADING_LIMITS)[TradingLimitName]['label'];
export type TradingLimiter = Limiter<TradingLimitName>;

/** A client exceeded its own limit on attempts. */
export class TooManyAttemptsError extends PublicError {
  override readonly name = 'TooManyAttemptsError';
  readonly retryAfterSeconds: number;
  /** The limit's name for operators. */
  readonly limit: TradingLimitLabel;

  constructor(retryAfterSeconds: number, limit: TradingLimitLabel) {
    super('too many attempts');
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get shown(): Shown {
    const more = { retryAfter: this.retryAfterSeconds };
    return { code: 'RATE_LIMITED', message: 'Too many attempts: wait a moment.', more };
  }
}

type Send<T> = () => Promise<T>;

type Sender = Pick<Caller, 'client' | 'forwarded'>;
type Charge = readonly [name: TradingLimitName, client: Client];

/** Limits writes before they are sent. Each operation has its own limit. */
export class WriteLimits {
  readonly #limiter: TradingLimiter;
  readonly #knownTokens: KnownKeys;

  /** `knownTokens` receives the tokens that `login` returns. */
  constructor(limiter: TradingLimiter, knownTokens: KnownKeys) {
    this.#limiter = limiter;
    this.#knownTokens = knownTokens;
  }

  /** Each attempt can be a guess at a password. */
  async login({ client, forwarded }: Sender, email: string, send: Send<SignIn>): Promise<SignIn> {
    const address = addressClient(client?.address);
    const mailbox = emailClient(email);
    const clients = [regarding(address, mailbox.key, 'pair'), address, mailbox];
    const charges = clients.map((charged): Charge => ['login', charged]);
    const result = await this.#limited(charges, send);
    if (result.outcome === 'granted')
      this.#knownTokens.add(toToken(result.grant.accessToken, forwarded?.digest).hash);
    return result;
  }

  /** Each request sends a mail. */
  forgotPassword<T>({ client }: Sender, email: string, send: Send<T>): Promise<T> {
    const charges: Charge[] = [
      ['resets', emailClient(email)],
      ['forgotPassword', addressClient(client?.address)],
    ];
    return this.#limited(charges, send);
  }

  write<T>(client: Client, operation: string, send: Send<T>): Promise<T> {
    return this.#limited([['writes', regarding(client, operation)]], send);
  }

  order<T>({ account }: AccountProof, send: Send<T>): Promise<T> {
    return this.#limited([['orders', accountClient(account)]], send);
  }

  /** Refunds a write that is refused here or was never sent. An order that was never sent stays charged: it was written to the store. */
  async #limited<T>(charges: readonly Charge[], send: Send<T>): Promise<T> {
    const charged: Charge[] = [];
    try {
      for (const charge of charges) {
        const { isOver, waitMs } = this.#limiter.take(...charge);
        const seconds = Math.ceil(waitMs / 1000);
        if (isOver) throw new TooManyAttemptsError(seconds, TRADING_LIMITS[charge[0]].label);
        charged.push(charge);
      }
      return await send();
    } catch (error) {
      const wasSent = error instanceof GatewayError && error.wasSent;
      if (!wasSent) for (const charge of charged) this.#limiter.giveBack(...charge);
      throw error;
    }
  }
}

/** All spellings of an e-mail address count as one. */
function emailClient(email: string): Client {
  const plain = email.normalize('NFKC').trim().toLowerCase();
  return singleClient('email', hash('sha256', plain, 'base64url'));
}
