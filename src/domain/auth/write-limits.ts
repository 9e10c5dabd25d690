import { hash } from 'node:crypto';
import type { Caller } from '../../gateway/caller.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { SignIn } from '../../gateway/operations/login.ts';
import {
  accountClient,
  addressClient,
  type Client,
  regarding,
  singleClient,
} from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import { toToken } from '../../lib/token.ts';
import { TooManyAttemptsError } from './errors.ts';
import { TRADING_LIMITS, type TradingLimiter, type TradingLimitName } from './limits.ts';
import type { AccountProof } from './proof.ts';

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

  /** Refunds a write that is refused here or was never sent. */
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
