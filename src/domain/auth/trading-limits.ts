import { hash } from 'node:crypto';
import type { Caller } from '../../gateway/exchange.ts';
import { GatewayError } from '../../gateway/gateway-error.ts';
import type { SignIn } from '../../gateway/operations/login.ts';
import { ACCOUNT } from '../../lib/account.ts';
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
import type { AccountProof, ProofLedger } from './proof.ts';
import type { Viewer } from './viewer.ts';

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
type TradingLimitLabel = (typeof TRADING_LIMITS)[TradingLimitName]['label'];
export type TradingLimiter = Limiter<TradingLimitName>;

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

type SignInCaller = Pick<Caller, 'sender' | 'forwarded'>;
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
  async login(
    { sender, forwarded }: SignInCaller,
    email: string,
    send: Send<SignIn>,
  ): Promise<SignIn> {
    const address = addressClient(sender?.address);
    const mailbox = emailClient(email);
    const clients = [regarding(address, mailbox.key, 'pair'), address, mailbox];
    const charges = clients.map((charged): Charge => ['login', charged]);
    const result = await this.#limited(charges, send);
    if (result.outcome === 'granted')
      this.#knownTokens.add(toToken(result.grant.accessToken, forwarded?.digest).hash);
    return result;
  }

  /** Each request sends a mail. */
  forgotPassword<T>({ sender }: SignInCaller, email: string, send: Send<T>): Promise<T> {
    const charges: Charge[] = [
      ['resets', emailClient(email)],
      ['forgotPassword', addressClient(sender?.address)],
    ];
    return this.#limited(charges, send);
  }

  write<T>(client: Client, operation: string, send: Send<T>): Promise<T> {
    return this.#limited([['writes', regarding(client, operation)]], send);
  }

  order<T>({ [ACCOUNT]: account }: AccountProof, send: Send<T>): Promise<T> {
    return this.#limited([['orders', accountClient(account)]], send);
  }

  /** Refunds a write that is refused here or was never sent. An order that was never sent stays charged: it was written to the store. */
  async #limited<T>(charges: readonly Charge[], send: Send<T>): Promise<T> {
    const charged: Charge[] = [];
    try {
      for (const charge of charges) {
        take(this.#limiter, ...charge);
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

function take(limiter: TradingLimiter, name: TradingLimitName, client: Client): void {
  const { isOver, waitMs } = limiter.take(name, client);
  if (isOver) throw new TooManyAttemptsError(Math.ceil(waitMs / 1000), TRADING_LIMITS[name].label);
}

/** All spellings of an e-mail address count as one. */
function emailClient(email: string): Client {
  const plain = email.normalize('NFKC').trim().toLowerCase();
  return singleClient('email', hash('sha256', plain, 'base64url'));
}

interface UnknownTokensParts {
  readonly limiter: TradingLimiter;
  /** The hashes of tokens that the gateway has accepted or `login` has returned. */
  readonly known: KnownKeys;
  readonly ledger: Pick<ProofLedger, 'isAccepted' | 'onRefused'>;
}

/** Overlapping gateway calls with one unknown token. */
interface Attempt {
  readonly address: Client;
  calls: number;
  /** If true, the charge is not given back. */
  isSpent: boolean;
}

/**
 * Limits gateway calls with unknown tokens, because any client can write a token with any login in it. An unknown token is
 * charged to its address, by the limit `proofs`. The charge is given back unless the gateway refuses the token. The token's
 * login is not charged: a forged token would use up its victim's limit.
 */
export class UnknownTokens {
  readonly #parts: UnknownTokensParts;
  /** Attempts by token hash. Overlapping calls of a token are one attempt until it is spent. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(parts: UnknownTokensParts) {
    this.#parts = parts;
    // A refused token counts as unknown again.
    parts.ledger.onRefused(({ tokenHash }) => parts.known.delete(tokenHash));
  }

  accepted({ tokenHash }: Viewer): void {
    this.#parts.known.add(tokenHash);
  }

  async guard<T>(viewer: Viewer, call: () => Promise<T>): Promise<T> {
    const { ledger, known } = this.#parts;
    const found = known.has(viewer.tokenHash);
    // Most tokens are known in this process. No promise is awaited for them.
    const isKnown = typeof found === 'boolean' ? found : await found;
    const attempt = isKnown || ledger.isAccepted(viewer) ? null : this.#begin(viewer);
    try {
      return await call();
    } catch (error) {
      if (attempt !== null && isRefusal(error)) attempt.isSpent = true;
      throw error;
    } finally {
      if (attempt !== null) this.#end(viewer, attempt);
    }
  }

  #begin({ tokenHash, sender }: Viewer): Attempt {
    const underWay = this.#attempts.get(tokenHash);
    // A spent attempt is not joined, or a forged token whose calls overlap for hours would be charged only once.
    if (underWay !== undefined && !underWay.isSpent) {
      underWay.calls += 1;
      return underWay;
    }
    const address = addressClient(sender?.address);
    take(this.#parts.limiter, 'proofs', address);
    const attempt = { address, calls: 1, isSpent: false };
    this.#attempts.set(tokenHash, attempt);
    return attempt;
  }

  #end({ tokenHash }: Viewer, attempt: Attempt): void {
    attempt.calls -= 1;
    if (attempt.calls > 0) return;
    if (this.#attempts.get(tokenHash) === attempt) this.#attempts.delete(tokenHash);
    if (!attempt.isSpent) this.#parts.limiter.giveBack('proofs', attempt.address);
  }
}

/** A 403 counts too: a proxy in front of the gateway can answer a forged token with it. */
function isRefusal(error: unknown): boolean {
  const isAnswer = error instanceof GatewayError && error.status !== null;
  return isAnswer && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}
