import { CRYPTO_WALLET } from '../../gateway/operations/add-crypto-wallet.ts';
import { MOBILE_WALLET } from '../../gateway/operations/add-mobile-wallet.ts';
import type { SentMethod } from '../../gateway/operations/get-withdrawal-methods.ts';
import { acknowledged, valuesIn } from '../body.ts';
import type { Context, UserCall } from '../call.ts';
import type { Reply } from '../http.ts';
import { authenticated, malformed, refuse } from '../refusals.ts';
import { cryptoWallet, mobileWallet } from '../withdrawal-methods.ts';

const ADDRESS = /^[A-Za-z0-9:]{20,100}$/;
const PHONE = /^\+?[0-9][0-9 ()-]{4,18}[0-9]$/;
const MAX_METHODS = 100;

/** Operation 7. */
export const addCryptoWallet = authenticated((call, context) => {
  const { address } = valuesIn(CRYPTO_WALLET, call.body);
  if (typeof address !== 'string' || address === '') {
    return malformed(call.operation, CRYPTO_WALLET.names.address, 'must be a string');
  }
  if (!ADDRESS.test(address)) {
    return refuse(call.operation, 422, 'INVALID_ADDRESS', 'This is no wallet address.');
  }
  return save(call, context, (id) => cryptoWallet(id, address));
});

/** Operation 8. */
export const addMobileWallet = authenticated((call, context) => {
  const { phone } = valuesIn(MOBILE_WALLET, call.body);
  if (typeof phone !== 'string' || phone === '') {
    return malformed(call.operation, MOBILE_WALLET.names.phone, 'must be a string');
  }
  if (!PHONE.test(phone)) {
    return refuse(call.operation, 422, 'INVALID_PHONE', 'This is no phone number.');
  }
  return save(call, context, (id) => mobileWallet(id, context.mobileWallet, phone));
});

function save(
  { operation, user }: UserCall,
  { world }: Context,
  make: (id: number) => SentMethod,
): Reply {
  const { methods } = world.account(user);
  if (methods.length >= MAX_METHODS) {
    return refuse(operation, 409, 'TOO_MANY_METHODS', 'No more destinations can be saved.');
  }
  methods.push(make(user.login * 10 + methods.length + 1));
  return acknowledged();
}
