import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import type { Caller } from '../../src/gateway/caller.ts';
import type { GatewayClient } from '../../src/gateway/client.ts';
import { GatewayError } from '../../src/gateway/errors.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import { customerIdRead, withdrawalMethodsRead } from '../../src/gateway/wire/payments.ts';
import { limitOrder, marketOrder } from './open-client.ts';

export type Call = (client: GatewayClient, caller: Caller) => Promise<unknown>;

/** One well-formed call of each operation, as the user 700001 of the sandbox would make it. */
export const CALLS: Readonly<Record<OperationName, Call>> = {
  getAllTickers: (client, caller) => client.getAllTickers(caller, 'standard-usd', null),
  login: (client, caller) => client.login(caller, 'demo@example.com', 'demo'),
  forgotPassword: (client, caller) =>
    client.write(caller, 'forgotPassword', { email: 'demo@example.com' }),
  openPosition: async (client, caller) =>
    judgeOrder('openPosition', await client.openPosition(caller, marketOrder)),
  placeLimitOrder: async (client, caller) =>
    judgeOrder('placeLimitOrder', await client.placeLimitOrder(caller, limitOrder)),
  resetTradingAccountPassword: (client, caller) =>
    client.write(caller, 'resetTradingAccountPassword', { accountExternalId: '700001' }),
  addCryptoWallet: (client, caller) =>
    client.write(caller, 'addCryptoWallet', {
      address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    }),
  addMobileWallet: (client, caller) =>
    client.write(caller, 'addMobileWallet', { phone: '+15550100' }),
  setValue: (client, caller) =>
    client.write(caller, 'setValue', { key: 'theme', value: { dark: true } }),
  getSession: (client, caller) => client.getSession(caller, '700001'),
  getWithdrawalMethods: (client, caller) => client.read(caller, withdrawalMethodsRead, {}),
  getOpenPositions: (client, caller) => client.getOpenPositions(caller, null),
  getCustomerId: (client, caller) => client.read(caller, customerIdRead, {}),
  markNotificationsRead: (client, caller) =>
    client.write(caller, 'markNotificationsRead', { ids: [1, 2] }),
  registerDevice: (client, caller) =>
    client.write(caller, 'registerDevice', { deviceId: 'phone-1' }),
};

/** The outcome of a call in one word: an error's kind, an outcome, or `answer`. */
export async function wordFor(call: Promise<unknown>): Promise<string> {
  try {
    const result = await call;
    if (typeof result !== 'object' || result === null) return 'answer';
    if ('outcome' in result) return String(result.outcome);
    return 'details' in result ? 'rejected' : 'answer';
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
}
