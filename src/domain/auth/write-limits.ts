import { hash } from 'node:crypto';
import {
  accountClient,
  addressClient,
  type Client,
  regarding,
  singleClient,
} from '../../../lib/limits/client.ts';
import type { KnownKeys } from '../../../lib/limits/known-keys.ts';
import { toToken } from '../../../lib/token.ts';
import type { Caller } from '../../gateway/caller.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { SignIn } from '../../gateway/judge.ts';
import { TooManyAttemptsError } from './errors.ts';
import { TRADING_LIMITS, type TradingLimiter, type TradingLimitName } from './limits.ts';
import type { AccountProof } from './proof.ts';
import { tenantKey } from './viewer.ts';

type Send<T> = () => Promise<T>;

export type WriteLimits = ReturnType<typeof createWriteLimits>;

/** Where a request comes from; the token may have expired. */
type From = Pick<Caller, 'client' | 'token' | 'forwarded'>;
type Charge = readonly [name: TradingLimitName, client: Client];

/**
 * Limits writes before they are sent: each has a share of its own. `signedIn` remembers the pairs of address and e-mail, and
 * of token and e-mail, that signed in lately, `tokens` what they were given.
 */
export function createWriteLimits(limiter: TradingLimiter, signedIn: KnownKeys, tokens: KnownKeys) {
  /** A write that is refused here, or never sent, is given back. */
  async function limited<T>(charges: readonly Charge[], send: Send<T>): Promise<T> {
    const charged: Charge[] = [];
    try {
      for (const charge of charges) {
        const { isOver, waitMs } = limiter.take(...charge);
        const seconds = Math.ceil(waitMs / 1000);
        if (isOver) throw new TooManyAttemptsError(seconds, TRADING_LIMITS[charge[0]].label);
        charged.push(charge);
      }
      return await send();
    } catch (error) {
      const wasSent = error instanceof GatewayError && error.wasSent;
      if (!wasSent) for (const charge of charged) limiter.giveBack(...charge);
      throw error;
    }
  }

  /**
   * Null where nobody signed in with the e-mail lately. A device that sends the token of its last sign-in along is told from
   * its neighbours, so that none of them can lock it out. All devices of an e-mail share what they have, or each sign-in
   * would come with attempts for the next.
   */
  async function ownOf({ client, token, forwarded }: From, who: Client): Promise<Client | null> {
    if (token && (await signedIn.has(pairOf(token.hash, who)))) {
      return singleClient('signed-in pair', pairOf(tenantKey('device', forwarded), who));
    }
    const pair = pairOf(tenantKey(addressClient(client?.address).key, forwarded), who);
    return (await signedIn.has(pair)) ? singleClient('signed-in pair', pair) : null;
  }

  return {
    /** Each may be a guess at a password. Nobody elsewhere can lock out who signed in at an address lately. */
    async login(by: From, email: string, send: Send<SignIn>): Promise<SignIn> {
      const from = addressClient(by.client?.address);
      const who = emailClient(email);
      const own = await ownOf(by, who);
      const charged = own ? [own] : [regarding(from, who.key, 'pair'), from, who];
      const charges = charged.map((client) => ['login', client] as const);
      const result = await limited(charges, send);
      if (result.outcome === 'granted') {
        const { hash } = toToken(result.grant.accessToken, by.forwarded?.digest);
        for (const key of [tenantKey(from.key, by.forwarded), hash]) signedIn.add(pairOf(key, who));
        tokens.add(hash);
      }
      return result;
    },
    /** Each sends a mail. */
    async forgotPassword<T>(by: From, email: string, send: Send<T>): Promise<T> {
      const who = emailClient(email);
      const own = await ownOf(by, who);
      const from = addressClient(by.client?.address);
      const charges: Charge[] = [['resets', own ?? who]];
      if (own === null) charges.push(['forgotPassword', from]);
      return limited(charges, send);
    },
    write: <T>(client: Client, operation: string, send: Send<T>): Promise<T> =>
      limited([['writes', regarding(client, operation)]], send),
    order: <T>({ account, tokenHash }: AccountProof, send: Send<T>): Promise<T> =>
      limited([['orders', accountClient(account, tokenHash)]], send),
  };
}

function pairOf(key: string, who: Client): string {
  return hash('sha256', `${key} ${who.key}`, 'base64url');
}

/** An e-mail is one however it is written. */
function emailClient(email: string): Client {
  const plain = email.normalize('NFKC').trim().toLowerCase();
  return singleClient('email', hash('sha256', plain, 'base64url'));
}
