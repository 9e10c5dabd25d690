import type { Core } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import type { Deadline } from './deadline.ts';

/** The login that is signed in. Throws a TradingGraphError where it is not the one that a key belongs to. */
export async function checkAccount(
  core: Core,
  account: string | null,
  deadline: Deadline,
): Promise<string> {
  const current = await deadline.race(core.account(deadline.signal));
  if (account !== null && current !== account) {
    const message = 'The order belongs to another account than the one that is signed in.';
    throw new TradingGraphError(message, { code: 'SIGNED_OUT', retryable: false });
  }
  return current;
}
