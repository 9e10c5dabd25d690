declare const loginBrand: unique symbol;
declare const accountBrand: unique symbol;

/** A trading login: digits, as a token claims them. Two tenants may have the same, so it is the key of nothing that is shared. */
export type Login = string & { readonly [loginBrand]: true };

/** The key of all that is shared within an account: its login, and where requests have forwarded headers, their digest. */
export type Account = string & { readonly [accountBrand]: true };
