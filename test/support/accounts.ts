import type { Account, Login } from '../../src/lib/account.ts';

/** The account of this name; a store takes any text for one. */
export const accountNamed = (name: string) => name as Account;

export const loginNamed = (digits: string) => digits as Login;
