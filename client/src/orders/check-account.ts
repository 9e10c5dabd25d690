import type { Core } from '../core.ts';
import type { Deadline } from '../request/deadline.ts';
import type { Exchanger } from '../request/exchange.ts';
import { signedOutError } from '../request/failures.ts';

/** The login that is signed in. Throws a TradingGraphError where it is not the one that a key belongs to. */
export async function checkAccount(
  core: Core,
  account: string | null,
  deadline: Deadline,
  exchange?: Exchanger,
): Promise<string> {
  const current = await deadline.race(core.account(deadline.signal, exchange));
  if (account !== null && current !== account) {
    throw signedOutError('Another account is signed in.');
  }
  return current;
}
