/** The 15 operations of the interface: the one table of their numbers, verbs, paths and areas. */

/** Areas are bulkheads: each has pools and breakers of its own, so that a slow one leaves the others alone. */
export type Area = 'reads' | 'orders' | 'rest';

/**
 * A 200 proves something about its token: that the token is accepted and its `login` its own, that it
 * is accepted (`token`), that it may read one `group`'s catalog, or `nothing`.
 */
export type Proves = 'login' | 'token' | 'group' | 'nothing';

/** The effect of a lost answer: nothing for a read, doubt for a write, money for an order. */
export type Effect = 'read' | 'write' | 'order';

export interface Operation {
  readonly number: number;
  readonly verb: 'GET' | 'POST' | 'PUT';
  /** A segment `{name}` is filled in, encoded as one segment. */
  readonly path: string;
  readonly area: Area;
  readonly effect: Effect;
  readonly proves: Proves;
}

export const OPERATIONS = {
  getAllTickers: {
    number: 1,
    verb: 'GET',
    path: '/trading/tickers/{group}',
    area: 'reads',
    effect: 'read',
    proves: 'group',
  },
  login: {
    number: 2,
    verb: 'POST',
    path: '/auth/login',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  forgotPassword: {
    number: 3,
    verb: 'POST',
    path: '/auth/forgot-password',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  openPosition: {
    number: 4,
    verb: 'POST',
    path: '/trading/positions',
    area: 'orders',
    effect: 'order',
    proves: 'nothing',
  },
  placeLimitOrder: {
    number: 5,
    verb: 'POST',
    path: '/trading/positions/limit',
    area: 'orders',
    effect: 'order',
    proves: 'nothing',
  },
  resetTradingAccountPassword: {
    number: 6,
    verb: 'POST',
    path: '/user/trading-accounts/reset-password',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  addCryptoWallet: {
    number: 7,
    verb: 'POST',
    path: '/payments/client/add-crm-crypto-wallet',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  addMobileWallet: {
    number: 8,
    verb: 'POST',
    path: '/payments/client/add-crm-{provider}',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  setValue: {
    number: 9,
    verb: 'PUT',
    path: '/user/kv/{key}',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  getSession: {
    number: 10,
    verb: 'GET',
    path: '/trading/session/{login}',
    area: 'reads',
    effect: 'read',
    proves: 'login',
  },
  getWithdrawalMethods: {
    number: 11,
    verb: 'GET',
    path: '/payments/client/withdrawal-methods',
    area: 'rest',
    effect: 'read',
    proves: 'token',
  },
  getOpenPositions: {
    number: 12,
    verb: 'GET',
    path: '/trading/positions',
    area: 'reads',
    effect: 'read',
    proves: 'token',
  },
  getCustomerId: {
    number: 13,
    verb: 'GET',
    path: '/payments/client/customer-id',
    area: 'rest',
    effect: 'read',
    proves: 'token',
  },
  markNotificationsRead: {
    number: 14,
    verb: 'PUT',
    path: '/user/notifications/mark-read',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
  registerDevice: {
    number: 15,
    verb: 'POST',
    path: '/user/notifications/v2/token',
    area: 'rest',
    effect: 'write',
    proves: 'nothing',
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;
