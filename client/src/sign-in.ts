/** The account that is signed in between two calls of `tokenChanged`: a new object after each. */
export interface SignIn {
  /** Null while the server has not named it. */
  readonly login: string | null;
}

/**
 * Whether the login that the server names belongs to a former sign-in. A sign-in without a login has it, unless the app has
 * announced that another account may be signed in.
 */
export function isSame(former: SignIn, present: SignIn, login: string): boolean {
  return former.login === null ? former === present : former.login === login;
}
