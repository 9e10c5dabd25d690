import type { OperationName } from '../../src/gateway/operations.ts';
import type { GraphQLAnswer, TestApp } from '../support/app.ts';

export interface Ask {
  readonly operation: OperationName;
  /** How it is asked for; `key` is another one each time. */
  readonly document: (key: string) => string;
  readonly field: string;
}

const order = (key: string) => `symbol: "AAPL", side: BUY, idempotencyKey: "${key}"`;
const ask = (operation: OperationName, field: string, document: Ask['document']): Ask => ({
  operation,
  field,
  document,
});
const mutation = (field: string, input: string) => `mutation {
  ${field}(input: { ${input} }) { __typename }
}`;

/** The 15 operations, each by a request that needs no other once the token is proved. */
export const ASKS: readonly Ask[] = [
  ask('getAllTickers', 'catalog', () => '{ catalog { size } }'),
  ask('login', 'login', () => mutation('login', 'email: "demo@example.com", password: "demo"')),
  ask('forgotPassword', 'forgotPassword', () =>
    mutation('forgotPassword', 'email: "demo@example.com"'),
  ),
  ask('openPosition', 'placeOrder', (key) =>
    mutation('placeOrder', `${order(key)}, size: { amount: 20 }`),
  ),
  ask('placeLimitOrder', 'placeLimitOrder', (key) =>
    mutation('placeLimitOrder', `${order(key)}, amount: 20, price: 1`),
  ),
  ask('resetTradingAccountPassword', 'resetTradingAccountPassword', () =>
    mutation('resetTradingAccountPassword', 'accountExternalId: "700001"'),
  ),
  ask('addCryptoWallet', 'addCryptoWallet', () =>
    mutation('addCryptoWallet', 'address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"'),
  ),
  ask('addMobileWallet', 'addMobileWallet', () =>
    mutation('addMobileWallet', 'phone: "+4915112345678"'),
  ),
  ask('setValue', 'setValue', () => mutation('setValue', 'key: "theme", value: "dark"')),
  ask('getSession', 'session', () => '{ session(maxAge: 0) { login } }'),
  ask('getWithdrawalMethods', 'withdrawalMethods', () => '{ withdrawalMethods { id } }'),
  ask('getOpenPositions', 'positions', () => '{ positions { id } }'),
  ask('getCustomerId', 'customerId', () => '{ customerId }'),
  ask('markNotificationsRead', 'markNotificationsRead', () =>
    mutation('markNotificationsRead', 'ids: [1]'),
  ),
  ask('registerDevice', 'registerDevice', () => mutation('registerDevice', 'deviceId: "phone"')),
];

export interface Said {
  /** The code of its error, else the type of its answer, or `data`. */
  readonly said: string;
  readonly ms: number;
}

let asked = 0;

export async function askFor(app: TestApp, { document, field }: Ask, token: string): Promise<Said> {
  asked += 1;
  const startedAt = performance.now();
  const answer = await app.query(document(`key ${asked}`), { token });
  return { said: saidIn(answer, field), ms: performance.now() - startedAt };
}

/** Exactly one of the two: an answer that has an error and data for one field contradicts itself. */
function saidIn({ status, data, errors }: GraphQLAnswer, field: string): string {
  const [error, ...others] = errors;
  const value = data?.[field] ?? null;
  if (status !== 200 || others.length > 0 || (error === undefined) === (value === null)) {
    return `status ${status}, ${JSON.stringify({ data, errors })}`;
  }
  return error?.extensions.code ?? value.__typename ?? 'data';
}
