/** The account that is signed in between two calls of `tokenChanged`: another object after each. */
export interface SignIn {
  /** Null while the server has not named it. */
  readonly login: string | null;
}

/**
 * Whether the login that the server names is that of a former sign-in. Of one without a login it is as long as the app has not
 * said that another account may be signed in.
 */
export function isSame(former: SignIn, present: SignIn, login: string): boolean {
  return former.login === null ? former === present : former.login === login;
}
