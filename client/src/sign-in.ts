/** The account that is signed in between two calls of `tokenChanged`: a new object after each. */
export interface SignIn {
  /** Null while the server has not named it. */
  readonly login: string | null;
}

/**
 * Whether the login that the server names belongs to a former sign-in. Without a known login, the sign-in must still be the
 * present one: the app has not announced since that another account may be signed in.
 */
export function isSame(former: SignIn, present: SignIn, login: string): boolean {
  return former.login === null ? former === present : former.login === login;
}
