import { perMinute, perProcess } from '../../../lib/limits/limit.ts';
import type { Limiter } from '../../../lib/limits/limiter.ts';

/** How long a token is remembered as known, and a pair of address and e-mail as signed in. */
export const KNOWN_MS = { token: 24 * 3_600_000, pair: 7 * 24 * 3_600_000 };
/** The calls that a token may have under way until it is proved. */
export const TOKEN_CALLS = 5;
/** Calls that wait for their turn: each with its request in memory. */
export const MAX_WAITING = { line: 1_000, all: 10_000 };

export interface TradingLimitSettings {
  readonly rateLimitPerMinute: number;
  readonly loginLimitPerMinute: number;
}

/** The limits of what this service does. A `signed-in pair` is an e-mail with an address, or a token, that signed in lately. */
export const TRADING_LIMITS = {
  // An office or a mobile network has many users behind one address, while one user has few addresses.
  login: perMinute(
    'LOGIN_LIMIT_PER_MINUTE',
    '`login` in a minute',
    ({ loginLimitPerMinute: max }: TradingLimitSettings) => ({
      pair: max,
      'signed-in pair': max,
      address: 30 * max,
      email: 10 * max,
    }),
  ),
  forgotPassword: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({
    address: 30,
  })),
  /** Mails to one e-mail: after the first three one in ten minutes. */
  resets: perMinute(
    'forgotPassword',
    '`forgotPassword` in a minute',
    () => ({ email: 3, 'signed-in pair': 3 }),
    1 / 30,
  ),
  /** More than a person or a program at retail needs; each order is a write to the store. */
  orders: perMinute(
    'orders',
    'orders in a minute',
    ({ rateLimitPerMinute: rate }: TradingLimitSettings) => ({
      account: Math.max(rate, 1_200) / 2,
    }),
  ),
  writes: perMinute('writes', 'each other small write in a minute', () => ({
    account: 60,
    address: 300,
  })),
  /** Calls under way with tokens that nobody has accepted yet, and those that were refused: beyond them 40 a second. */
  trials: perProcess(
    'refused tokens',
    'refused calls of unknown tokens',
    () => ({ address: 600 }),
    4,
  ),
  /** A home screen makes five beside a cold catalog. */
  calls: perProcess('refused tokens', 'calls of a token at a time, until it is proved', () => ({
    token: TOKEN_CALLS,
  })),
};

export type TradingLimitName = keyof typeof TRADING_LIMITS;
export type TradingLimitLabel = (typeof TRADING_LIMITS)[TradingLimitName]['label'];
export type TradingLimiter = Limiter<TradingLimitName>;
