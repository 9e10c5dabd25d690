import { hash } from 'node:crypto';
import { GatewayError } from '../../gateway/errors.ts';
import type { OperationName } from '../../gateway/operations.ts';
import type { GatewayRefusal, LoginGrant } from '../../gateway/wire/bodies.ts';
import { addressClient, type Client, regarding, singleClient } from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { toToken } from '../../lib/token.ts';
import { TooManyAttemptsError } from './errors.ts';

type SignIn = LoginGrant | GatewayRefusal;
type Send<T> = () => Promise<T>;

export type WriteLimits = ReturnType<typeof createWriteLimits>;

/**
 * Limits the writes that are no orders before they are sent: each has a share of its own. `signedIn` remembers the pairs
 * of address and e-mail that signed in lately, `tokens` what they were given.
 */
export function createWriteLimits(limiter: Limiter, signedIn: KnownKeys, tokens: KnownKeys) {
  /** A write that is refused here, or never sent, is given back. */
  async function limited<T>(
    name: 'login' | 'forgotPassword' | 'writes',
    clients: readonly Client[],
    send: Send<T>,
  ): Promise<T> {
    const charged: Client[] = [];
    try {
      for (const client of clients) {
        const { isOver, waitMs } = limiter.take(name, client);
        const seconds = Math.ceil(waitMs / 1000);
        if (isOver) throw new TooManyAttemptsError(seconds, limiter.table[name].label);
        charged.push(client);
      }
      return await send();
    } catch (error) {
      const wasSent = error instanceof GatewayError && error.wasSent;
      if (!wasSent) for (const client of charged) limiter.giveBack(name, client);
      throw error;
    }
  }

  return {
    /** Each may be a guess at a password. Nobody elsewhere can lock out who signed in at an address lately. */
    async login(address: string | undefined, email: string, send: Send<SignIn>): Promise<SignIn> {
      const from = addressClient(address);
      const who = emailClient(email);
      const pair = hash('sha256', `${from.key} ${who.key}`, 'base64url');
      const charged = (await signedIn.has(pair))
        ? [singleClient('signed-in pair', pair)]
        : [regarding(from, who.key, 'pair'), from, who];
      const result = await limited('login', charged, send);
      if ('accessToken' in result) {
        signedIn.add(pair);
        tokens.add(toToken(result.accessToken).hash);
      }
      return result;
    },
    /** Each sends a mail. */
    forgotPassword: <T>(address: string | undefined, email: string, send: Send<T>): Promise<T> =>
      limited('forgotPassword', [emailClient(email), addressClient(address)], send),
    write: <T>(client: Client, operation: OperationName, send: Send<T>): Promise<T> =>
      limited('writes', [regarding(client, operation)], send),
  };
}

/** An e-mail is one however it is written. */
function emailClient(email: string): Client {
  const plain = email.normalize('NFKC').trim().toLowerCase();
  return singleClient('email', hash('sha256', plain, 'base64url'));
}
