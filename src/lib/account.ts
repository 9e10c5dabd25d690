declare const loginBrand: unique symbol;
declare const accountBrand: unique symbol;
declare const proofBrand: unique symbol;
export declare const freshBrand: unique symbol;

/**
 * The properties by which viewers, proofs and tokens have their login, their account and their text. Resolvers cannot import
 * this file, and `JSON.stringify` omits properties named by symbols: a resolver has no claim from which to make a text.
 */
export const LOGIN: unique symbol = Symbol('login');
export const ACCOUNT: unique symbol = Symbol('account');
export const TOKEN_TEXT: unique symbol = Symbol('text of the token');

/** No text to TypeScript, not even in a template or a sum, and no part of a body. */
type NoText = symbol & { readonly toString: never };

/**
 * A trading login: the digits that a token claims. Two tenants may have the same login, so never share data by it. It is a
 * string at run time, but no string to TypeScript, so that no claim becomes a part of a call.
 */
export type Login = NoText & { readonly [loginBrand]: true };

/**
 * The key of data that an account shares: its login, plus the digest of the forwarded headers if a request has any. As a
 * login, it is no string to TypeScript.
 */
export type Account = NoText & { readonly [accountBrand]: true };

/** Evidence that the gateway accepted a token as this login's. Only `src/domain/auth/proof.ts` makes one. */
export abstract class ProvedAccount {
  /** Private, so that TypeScript accepts no other object, and no copy with another login. */
  declare private readonly brand: typeof proofBrand;
  abstract readonly [LOGIN]: Login;
  abstract readonly tokenHash: string;
}

/** Evidence from a gateway call of this very request. */
export type FreshlyProvedAccount = ProvedAccount & { readonly [freshBrand]: true };

/** The text of a login or an account, for the gateway's client, the stores and the log. */
export function textOf(id: Login | Account): string {
  return id as unknown as string;
}

/** The account of a stored text. */
export function toAccount(text: string): Account {
  return text as unknown as Account;
}
