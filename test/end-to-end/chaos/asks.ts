import type { OperationName } from '../../../src/gateway/operations.ts';
import type { GraphQLAnswer, TestApp } from '../../support/app.ts';

export interface Ask {
  readonly operation: OperationName;
  /** The same text each time, so that it is compiled; only `$key` differs. */
  readonly document: string;
  readonly field: string;
}

const ORDER = 'symbol: "AAPL", side: BUY, idempotencyKey: $key';
const ask = (operation: OperationName, field: string, document: string): Ask => ({
  operation,
  field,
  document,
});
const mutation = (field: string, input: string) =>
  `mutation${input.includes('$key') ? ' ($key: String!)' : ''} {
  ${field}(input: { ${input} }) { __typename }
}`;
const write = (operation: OperationName, input: string) =>
  ask(operation, operation, mutation(operation, input));

/** One request for each operation, which calls no other once the token is proved. */
const ASK_OF: Readonly<Record<OperationName, Ask>> = {
  getAllTickers: ask('getAllTickers', 'catalog', '{ catalog { size } }'),
  login: write('login', 'email: "demo@example.com", password: "demo"'),
  forgotPassword: write('forgotPassword', 'email: "demo@example.com"'),
  openPosition: ask(
    'openPosition',
    'placeOrder',
    mutation('placeOrder', `${ORDER}, size: { amount: 20 }`),
  ),
  placeLimitOrder: write('placeLimitOrder', `${ORDER}, amount: 20, price: 1`),
  resetTradingAccountPassword: write('resetTradingAccountPassword', 'accountExternalId: "700001"'),
  addCryptoWallet: write(
    'addCryptoWallet',
    'address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"',
  ),
  addMobileWallet: write('addMobileWallet', 'phone: "+4915112345678"'),
  setValue: write('setValue', 'key: "theme", value: "dark"'),
  getSession: ask('getSession', 'session', '{ session(maxAge: 0) { login } }'),
  getWithdrawalMethods: ask(
    'getWithdrawalMethods',
    'withdrawalMethods',
    '{ withdrawalMethods { id } }',
  ),
  getOpenPositions: ask('getOpenPositions', 'positions', '{ positions { id } }'),
  getCustomerId: ask('getCustomerId', 'customerId', '{ customerId }'),
  markNotificationsRead: write('markNotificationsRead', 'ids: [1]'),
  registerDevice: write('registerDevice', 'deviceId: "phone"'),
};
export const ASKS: readonly Ask[] = Object.values(ASK_OF);

let asked = 0;

/** Returns the error code, else the type of the answer, or `data`. */
export async function askFor(
  app: Pick<TestApp, 'query'>,
  { document, field }: Ask,
  token: string,
): Promise<string> {
  asked += 1;
  const answer = await app.query(document, { token, variables: { key: `key ${asked}` } });
  return saidIn(answer, field);
}

/** Throws where an answer has both an error and data for one field, which contradicts itself. */
function saidIn({ status, data, errors }: GraphQLAnswer, field: string): string {
  const [error, ...others] = errors;
  const value = data?.[field] ?? null;
  if (status !== 200 || others.length > 0 || (error === undefined) === (value === null)) {
    return `status ${status}, ${JSON.stringify({ data, errors })}`;
  }
  return error?.extensions.code ?? value.__typename ?? 'data';
}
