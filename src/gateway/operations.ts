/** The operations of the interface, each with all that is true of it: no other file repeats a column. */

/** Areas are bulkheads: each has a pool of its own, so that a slow one leaves the others alone. */
export type Area = 'reads' | 'orders' | 'rest';

/**
 * The units of failure, each with a breaker and a retry budget of its own. One breaker for the whole
 * area `rest` would keep people from signing in because payments are down.
 */
export type Backend = 'reads' | 'orders' | 'auth' | 'user' | 'payments';

/** The settings that bound the time of a call and the size of its answer. */
export type Bounds = 'usual' | 'order' | 'catalog';

/**
 * A 200 proves something about its token: that the token is accepted and its `login` its own, that it
 * is accepted (`token`), that it may read one `group`'s catalog, or `nothing`. Proof opens shared caches,
 * so an operation proves `nothing` until it is certain that the gateway checks the token for it.
 */
export type Proves = 'login' | 'token' | 'group' | 'nothing';

/**
 * The shape of the errors' bodies: `{error, message, details}`, `{error, message}`, `{message}`, an
 * order's `{success, err, message}`; a sign-in also answers `{error, ok}`, with a 200 too, and its 401
 * and 403 are about the input.
 */
type ErrorShape = 'details' | 'plain' | 'message' | 'submit' | 'sign-in';

interface Common {
  readonly number: number;
  /** A segment `{name}` is filled in, encoded as one segment. */
  readonly path: string;
  readonly backend: Backend;
  readonly area: Area;
  readonly bounds: Bounds;
  /** The call goes out without a token, whatever token the request came with. */
  readonly isAnonymous: boolean;
  readonly errors: ErrorShape;
}

/** Nothing happens where its answer is lost: it is repeated here. */
interface ReadOperation extends Common {
  /** Never that of orders, whose connections are theirs alone. */
  readonly area: 'reads' | 'rest';
  readonly effect: 'read';
  readonly verb: 'GET';
  readonly isIdempotent: true;
  readonly proves: Proves;
}

/** A lost answer leaves doubt. It is never repeated here; clients learn whether they may. */
interface WriteOperation extends Common {
  readonly effect: 'write';
  readonly verb: 'POST' | 'PUT';
  readonly isIdempotent: boolean;
  readonly proves: 'nothing';
}

/** A lost answer may have cost money. */
interface OrderOperation extends Common {
  readonly effect: 'order';
  readonly verb: 'POST';
  readonly isIdempotent: false;
  readonly proves: 'nothing';
}

export type Operation = ReadOperation | WriteOperation | OrderOperation;

/** The properties that most operations of one effect have in common. */
const READ = {
  verb: 'GET',
  effect: 'read',
  isIdempotent: true,
  isAnonymous: false,
  bounds: 'usual',
} as const;

const WRITE = {
  effect: 'write',
  area: 'rest',
  isAnonymous: false,
  bounds: 'usual',
  proves: 'nothing',
} as const;

const ORDER = {
  verb: 'POST',
  effect: 'order',
  backend: 'orders',
  area: 'orders',
  isIdempotent: false,
  isAnonymous: false,
  bounds: 'order',
  proves: 'nothing',
  errors: 'submit',
} as const;

export const OPERATIONS = {
  getAllTickers: {
    ...READ,
    number: 1,
    path: '/trading/tickers/{group}',
    backend: 'reads',
    area: 'reads',
    bounds: 'catalog',
    proves: 'group',
    errors: 'details',
  },
  login: {
    ...WRITE,
    number: 2,
    verb: 'POST',
    path: '/auth/login',
    backend: 'auth',
    isIdempotent: false,
    isAnonymous: true,
    errors: 'sign-in',
  },
  forgotPassword: {
    ...WRITE,
    number: 3,
    verb: 'POST',
    path: '/auth/forgot-password',
    backend: 'auth',
    isIdempotent: false,
    isAnonymous: true,
    errors: 'sign-in',
  },
  openPosition: {
    ...ORDER,
    number: 4,
    path: '/trading/positions',
  },
  placeLimitOrder: {
    ...ORDER,
    number: 5,
    path: '/trading/positions/limit',
  },
  resetTradingAccountPassword: {
    ...WRITE,
    number: 6,
    verb: 'POST',
    path: '/user/trading-accounts/reset-password',
    backend: 'user',
    isIdempotent: false,
    errors: 'details',
  },
  addCryptoWallet: {
    ...WRITE,
    number: 7,
    verb: 'POST',
    path: '/payments/client/add-crm-crypto-wallet',
    backend: 'payments',
    isIdempotent: false,
    errors: 'details',
  },
  addMobileWallet: {
    ...WRITE,
    number: 8,
    verb: 'POST',
    path: '/payments/client/add-crm-{provider}',
    backend: 'payments',
    isIdempotent: false,
    errors: 'details',
  },
  setValue: {
    ...WRITE,
    number: 9,
    verb: 'PUT',
    path: '/user/kv/{key}',
    backend: 'user',
    isIdempotent: true,
    errors: 'details',
  },
  getSession: {
    ...READ,
    number: 10,
    path: '/trading/session/{login}',
    backend: 'reads',
    area: 'reads',
    proves: 'login',
    errors: 'message',
  },
  getWithdrawalMethods: {
    ...READ,
    number: 11,
    path: '/payments/client/withdrawal-methods',
    backend: 'payments',
    area: 'rest',
    proves: 'token',
    errors: 'details',
  },
  getOpenPositions: {
    ...READ,
    number: 12,
    path: '/trading/positions',
    backend: 'reads',
    area: 'reads',
    proves: 'token',
    errors: 'details',
  },
  getCustomerId: {
    ...READ,
    number: 13,
    path: '/payments/client/customer-id',
    backend: 'payments',
    area: 'rest',
    proves: 'token',
    errors: 'details',
  },
  markNotificationsRead: {
    ...WRITE,
    number: 14,
    verb: 'PUT',
    path: '/user/notifications/mark-read',
    backend: 'user',
    isIdempotent: true,
    errors: 'plain',
  },
  registerDevice: {
    ...WRITE,
    number: 15,
    verb: 'POST',
    path: '/user/notifications/v2/token',
    backend: 'user',
    isIdempotent: true,
    errors: 'plain',
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

/** Makes a value for each operation once, so that no call has to compute it. */
export function byOperation<T>(
  make: (operation: Operation, name: OperationName) => T,
): Readonly<Record<OperationName, T>> {
  const made = OPERATION_NAMES.map((name) => [name, make(OPERATIONS[name], name)] as const);
  return Object.fromEntries(made) as Record<OperationName, T>;
}
