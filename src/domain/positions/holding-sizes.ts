/** The size of an account's holdings, by login. Callers must have proof of the account. */
export interface HoldingSizes {
  positions(login: string): number;
  orders(login: string): number;
}
