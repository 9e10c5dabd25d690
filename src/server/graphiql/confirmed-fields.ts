/** Mutation fields that place an order, change where money goes, or change a password: the page asks before it sends them to a real gateway. */
export const CONFIRMED_FIELDS: readonly string[] = [
  'placeOrder',
  'placeLimitOrder',
  'addCryptoWallet',
  'addMobileWallet',
  'resetTradingAccountPassword',
  'forgotPassword',
];
