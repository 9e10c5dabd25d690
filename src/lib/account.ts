declare const loginBrand: unique symbol;
declare const accountBrand: unique symbol;

/**
 * A trading login: digits, as a token claims them. Two tenants may have the same login, so it must not be the key of
 * anything shared.
 */
export type Login = string & { readonly [loginBrand]: true };

/**
 * The key of everything that is shared within an account: its login, plus the digest of the forwarded headers if a request
 * has any.
 */
export type Account = string & { readonly [accountBrand]: true };
