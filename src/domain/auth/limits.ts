import { perMinute } from '../../lib/limits/limit.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';

export interface TradingLimitSettings {
  readonly rateLimitPerMinute: number;
  readonly loginLimitPerMinute: number;
}

/** The limits on this service's operations. A `pair` is an address with an e-mail. */
export const TRADING_LIMITS = {
  // Many users of an office or a mobile network share one address, while one user has few addresses.
  login: perMinute(
    'LOGIN_LIMIT_PER_MINUTE',
    '`login` in a minute',
    ({ loginLimitPerMinute: max }: TradingLimitSettings) => ({
      pair: max,
      address: 30 * max,
      email: 10 * max,
    }),
  ),
  forgotPassword: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({
    address: 30,
  })),
  /** Mails to one e-mail address: three at first, then one in ten minutes, which is a thirtieth of three in a minute. */
  resets: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({ email: 3 }), 1 / 30),
  /** More than a person or a retail program needs; each order is a write to the store. */
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
  /** Gateway calls with unknown tokens. */
  proofs: perMinute('unknown tokens', 'unknown tokens in a minute', () => ({ address: 60 })),
};

export type TradingLimitName = keyof typeof TRADING_LIMITS;
export type TradingLimitLabel = (typeof TRADING_LIMITS)[TradingLimitName]['label'];
export type TradingLimiter = Limiter<TradingLimitName>;
