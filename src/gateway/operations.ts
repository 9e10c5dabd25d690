/** The operations of the interface, each with all that is true of it: no other file repeats a column. */

/** Areas are bulkheads: each has a pool of its own, so that a slow one leaves the others alone. */
export type Area = string;

/** The units of failure, each with its breaker and retries: people can sign in while payments are down. */
export type Backend = string;

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

export interface GatewayOperation {
  /** A segment `{name}` is filled in, encoded as one segment. */
  readonly path: string;
  readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Nothing happens where the answer of a `read` is lost: it is repeated here. A lost answer of a `write` leaves doubt;
   * it is never repeated here. That of an `order` may have cost money.
   */
  readonly effect: 'read' | 'write' | 'order';
  /** Whether a client may repeat it where its answer was lost. */
  readonly isIdempotent: boolean;
  readonly backend: Backend;
  /** Never that of orders but for orders, whose connections are theirs alone. */
  readonly area: Area;
  readonly bounds: Bounds;
  /** Whether a long answer is parsed piece by piece. */
  readonly isReadInPieces?: boolean;
  readonly proves: Proves;
  /**
   * Whether an answer with an `Age` counts. A cache may have it from another user; a write's may have aged on its way, and what it says
   * of an order must not be lost.
   */
  readonly mayHaveAged: boolean;
  /** The call goes out without a token, whatever token the request came with. */
  readonly isAnonymous: boolean;
  readonly errors: ErrorShape;
}

/** The properties that most operations of one kind have in common. */
const READ = {
  verb: 'GET',
  effect: 'read',
  isIdempotent: true,
  bounds: 'usual',
  mayHaveAged: false,
  isAnonymous: false,
  errors: 'details',
} as const;

const WRITE = {
  verb: 'POST',
  effect: 'write',
  isIdempotent: false,
  area: 'rest',
  bounds: 'usual',
  proves: 'nothing',
  mayHaveAged: true,
  isAnonymous: false,
  errors: 'details',
} as const;

const SIGN_IN = { ...WRITE, backend: 'auth', isAnonymous: true, errors: 'sign-in' } as const;

const ORDER = {
  ...WRITE,
  effect: 'order',
  backend: 'orders',
  area: 'orders',
  bounds: 'order',
  errors: 'submit',
} as const;

/** The columns of reads that every screen makes. */
const SCREEN = { backend: 'reads', area: 'reads' } as const;
const PAYMENTS = { backend: 'payments', area: 'rest' } as const;

export const OPERATIONS = {
  getAllTickers: {
    ...READ,
    ...SCREEN,
    number: 1,
    path: '/trading/tickers/{group}',
    bounds: 'catalog',
    isReadInPieces: true,
    proves: 'group',
    mayHaveAged: true,
  },
  login: { ...SIGN_IN, number: 2, path: '/auth/login' },
  forgotPassword: { ...SIGN_IN, number: 3, path: '/auth/forgot-password' },
  openPosition: { ...ORDER, number: 4, path: '/trading/positions' },
  placeLimitOrder: { ...ORDER, number: 5, path: '/trading/positions/limit' },
  resetTradingAccountPassword: {
    ...WRITE,
    number: 6,
    path: '/user/trading-accounts/reset-password',
    backend: 'user',
  },
  addCryptoWallet: {
    ...WRITE,
    ...PAYMENTS,
    number: 7,
    path: '/payments/client/add-crm-crypto-wallet',
  },
  addMobileWallet: {
    ...WRITE,
    ...PAYMENTS,
    number: 8,
    path: '/payments/client/add-crm-{provider}',
  },
  setValue: {
    ...WRITE,
    number: 9,
    verb: 'PUT',
    path: '/user/kv/{key}',
    backend: 'user',
    isIdempotent: true,
  },
  getSession: {
    ...READ,
    ...SCREEN,
    number: 10,
    isReadInPieces: true,
    path: '/trading/session/{login}',
    proves: 'login',
    errors: 'message',
  },
  getWithdrawalMethods: {
    ...READ,
    ...PAYMENTS,
    number: 11,
    path: '/payments/client/withdrawal-methods',
    proves: 'token',
  },
  getOpenPositions: {
    ...READ,
    ...SCREEN,
    number: 12,
    isReadInPieces: true,
    path: '/trading/positions',
    proves: 'token',
  },
  getCustomerId: {
    ...READ,
    ...PAYMENTS,
    number: 13,
    path: '/payments/client/customer-id',
    proves: 'token',
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
    path: '/user/notifications/v2/token',
    backend: 'user',
    isIdempotent: true,
    errors: 'plain',
  },
} as const satisfies Record<string, GatewayOperation & { readonly number: number }>;

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

export function isSignIn(name: string): boolean {
  return isOperation(name) && OPERATIONS[name].errors === 'sign-in';
}

type NamesOf<Effect> = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['effect'] extends Effect ? Name : never;
}[OperationName];

/** The operations that change nothing. */
export type ReadName = NamesOf<'read'>;

/** Those that are acknowledged, or refused: no orders, nor a login. */
export type WriteName = Exclude<NamesOf<'write'>, 'login'>;

export const READ_NAMES = OPERATION_NAMES.filter(
  (name): name is ReadName => OPERATIONS[name].effect === 'read',
);
