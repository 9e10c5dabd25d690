import { type Account, type Login, toAccount } from '../../src/lib/account.ts';
import { accountClient } from '../../src/lib/limits/request-caller.ts';

/** The account with this name; a store accepts any text. */
export const accountNamed = (name: string | Account | Login) => toAccount(name as string);

export const loginNamed = (digits: string | Login) => digits as Login;

/** The status of a token that proves this account. */
export function provedAs(name: string) {
  return { tokenStatus: { provedClient: accountClient(accountNamed(name)), isAccepted: true } };
}
