declare const loginBrand: unique symbol;
declare const accountBrand: unique symbol;

/** A trading login: the digits that a token claims. Two tenants may have the same login, so never share data by it. */
export type Login = string & { readonly [loginBrand]: true };

/** The key of data that an account shares: its login, plus the digest of the forwarded headers if a request has any. */
export type Account = string & { readonly [accountBrand]: true };
