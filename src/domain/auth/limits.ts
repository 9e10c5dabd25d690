import { perMinute } from '../../lib/limits/limit.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';

export interface TradingLimitSettings {
  readonly rateLimitPerMinute: number;
  readonly loginLimitPerMinute: number;
}

// The lowest limit of orders in a minute: more than a person or a retail program needs.
const MIN_ORDERS = 600;

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
  /** Mails to one e-mail address: three at first, then one every ten minutes, which refills all three in 30 minutes. */
  resets: perMinute('forgotPassword', '`forgotPassword` in a minute', () => ({ email: 3 }), 1 / 30),
  /** Lower than the limit of all requests, because each order is also a write to the store. */
  orders: perMinute(
    'orders',
    'orders in a minute',
    ({ rateLimitPerMinute: rate }: TradingLimitSettings) => ({
      account: Math.max(MIN_ORDERS, rate / 2),
    }),
  ),
  /** Each write without a limit above, such as a new alert. */
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
