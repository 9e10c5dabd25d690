/** The input of every read that needs only its account. */
export interface AccountInput {
  readonly login: string;
  readonly group: string;
  readonly etag: null;
  readonly onOwned: () => void;
  /** There is no former answer of op 12 to compare with. */
  readonly bodyBytes: null;
}

/**
 * An account as the input of reads. It throws if a read asks for anything else, or takes it whole as its query or body:
 * such a read needs arguments, and a call of it would carry the login where the gateway expects something else.
 */
export function accountInput(account: Pick<AccountInput, 'login' | 'group'>): AccountInput {
  const input: AccountInput = { ...account, etag: null, onOwned() {}, bodyBytes: null };
  return new Proxy(input, {
    get(_, name) {
      if (!Object.hasOwn(input, name)) throw new Error(`needs the argument ${String(name)}`);
      return Reflect.get(input, name);
    },
    ownKeys() {
      throw new Error('needs arguments');
    },
  });
}
