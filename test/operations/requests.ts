import type { OperationName } from '../../src/gateway/operations.ts';

/** A verb and a path, and the body if there is one. */
type WireRequest = readonly [sends: string, body?: unknown];

/**
 * The requests on the wire that the document of each operation's case leads to. They repeat the gateway's interface in its
 * own words, so that tests find errors in our tables. Another gateway has others.
 */
export const REQUESTS: Readonly<Record<OperationName, readonly WireRequest[]>> = {
  getAllTickers: [['GET /trading/tickers/standard-usd']],
  login: [['POST /auth/login', { email: 'demo@example.com', password: 'demo' }]],
  forgotPassword: [['POST /auth/forgot-password', { email: 'demo@example.com' }]],
  openPosition: [
    [
      'POST /trading/positions',
      {
        symbol: 'AAPL',
        direction: 'sell',
        type: 'amount',
        amount: 250.5,
        price: 99.5,
        slAmount: 10,
        tp: 1.25,
        comment: 'c',
      },
    ],
  ],
  placeLimitOrder: [
    [
      'POST /trading/positions/limit',
      {
        symbol: 'AAPL',
        direction: 'buy',
        amount: 100,
        price: 150,
        sl: 0,
        tp: 200,
        comment: 'c',
      },
    ],
  ],
  resetTradingAccountPassword: [
    ['POST /user/trading-accounts/reset-password', { account_external_id: '700001' }],
  ],
  addCryptoWallet: [
    [
      'POST /payments/client/add-crm-crypto-wallet',
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    ],
  ],
  addMobileWallet: [['POST /payments/client/add-crm-mobile-wallet', { phone: '+49 151' }]],
  markNotificationsRead: [['PUT /user/notifications/mark-read', { ids: [1, -2] }]],
  getSession: [['GET /trading/session/700001']],
  getWithdrawalMethods: [['GET /payments/client/withdrawal-methods']],
  getOpenPositions: [['GET /trading/positions']],
  getCustomerId: [['GET /payments/client/customer-id']],
  registerDevice: [
    [
      'POST /user/notifications/v2/token',
      { deviceId: 'd', token: 't', platform: 'macos', enabled: false },
    ],
  ],
  setValue: [['PUT /user/kv/a%2Fb%20c%3Fd%3D%C3%A9%23%252F', { value: { a: [1, null, 'x'] } }]],
};
