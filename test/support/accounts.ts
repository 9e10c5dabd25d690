import type { Account, Login } from '../../src/lib/account.ts';
import { accountClient } from '../../src/lib/limits/client.ts';

/** The account with this name; a store accepts any text. */
export const accountNamed = (name: string) => name as Account;

export const loginNamed = (digits: string) => digits as Login;

/** The status of a token that proves this account. */
export function provedAs(name: string) {
  return { tokenStatus: { provedClient: accountClient(accountNamed(name)), isAccepted: true } };
}
