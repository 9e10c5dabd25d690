import type { Core } from '../core.ts';
import type { Deadline } from '../request/deadline.ts';
import type { Exchanger } from '../request/exchange.ts';
import { signedOutError } from '../request/failures.ts';
import { isSame, type SignIn } from '../sign-in.ts';

/** The login that is signed in. Throws a TradingGraphError where it is not that of the sign-in that an order belongs to. */
export async function checkAccount(
  core: Core,
  signIn: SignIn,
  deadline: Deadline,
  exchange?: Exchanger,
): Promise<string> {
  const current = await deadline.race(core.account(deadline.signal, exchange));
  if (!isSame(signIn, core.signIn, current)) throw signedOutError('Another account is signed in.');
  return current;
}
