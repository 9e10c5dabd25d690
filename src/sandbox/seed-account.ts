import {
  type Account,
  figuresOf,
  investedIn,
  type OpenPosition,
  type PendingOrder,
} from './account.ts';
import { findGroup } from './groups.ts';
import type { Listed } from './instruments.ts';
import { VOLATILITY } from './kind-styles.ts';
import type { Quotes } from './market.ts';
import { round } from './money.ts';
import { createRandom, type Random } from './random.ts';
import type { SandboxUser } from './users.ts';
import { firstMethods } from './withdrawal-methods.ts';

interface SeedOptions {
  readonly seed: string;
  /** The instruments of the user's group, without the test instruments, in a stable order. */
  readonly tradeable: readonly Listed[];
  /** The prices that positions and orders are made from. */
  readonly quotes: Quotes;
  readonly hold: (account: Account, holding: OpenPosition | PendingOrder) => void;
}

const SEEDED_AT_MS = Date.UTC(2026, 0, 2, 14, 30);
const HOUR_MS = 3_600_000;

/** Creates an account's initial figures, positions and orders from the seed. */
export function seedAccount(user: SandboxUser, options: SeedOptions): Account {
  const account: Account = {
    user,
    positions: new Map(),
    orders: new Map(),
    methods: firstMethods(user),
    keys: new Set(),
    balance: user.balance,
    prevBalance: user.balance,
    prevEquity: user.balance,
  };
  const random = createRandom(`${options.seed}/account/${user.login}`);
  const count = user.positions + user.orders;
  for (const [i, listed] of choose(user, count, random, options.tradeable).entries()) {
    const terms = termsOf(user, i, listed, random, options.quotes);
    if (terms === null) continue;
    const isPending = i >= user.positions;
    options.hold(account, isPending ? pending(terms, random) : opened(terms, i, random));
  }
  account.prevEquity = figuresOf(account, options.quotes).equity;
  return account;
}

/** The instruments that an account holds. Load users do not hold the well-known ones first, so that all prices have to move. */
function choose(
  user: SandboxUser,
  count: number,
  random: Random,
  tradeable: readonly Listed[],
): Listed[] {
  const known = user.login < 800_000 ? Math.min(count, 9) : 0;
  const rest = tradeable.slice(known);
  const step = Math.max(1, Math.floor(rest.length / Math.max(1, count - known)));
  const offset = Math.floor(random() * rest.length);
  const spread = Array.from(
    { length: Math.min(count - known, rest.length) },
    (_, i) => rest[(offset + i * step) % rest.length] as Listed,
  );
  return [...tradeable.slice(0, known), ...spread];
}

type Terms = Omit<OpenPosition, 'storage'>;

function termsOf(
  user: SandboxUser,
  i: number,
  listed: Listed,
  random: Random,
  quotes: Quotes,
): Terms | null {
  const { wire, kind, index } = listed;
  const leverage = findGroup(user.group)?.leverage[kind] ?? 1;
  const rateMargin = round(quotes.rate(wire.mCurrency), 6);
  const priceOpen = quotes.price(index);
  const budget = (user.balance / 40) * (0.5 + random());
  const one = investedIn(listed, 1_000_000, priceOpen, rateMargin, leverage) / 1_000_000;
  const whole = round(Math.floor(budget / one / wire.step) * wire.step, 8);
  if (whole < wire.min) return null;
  const units = Math.min(whole, wire.max);
  return {
    id: String(user.login * 1_000 + i + 1),
    listed,
    isBuy: random() < 0.7,
    units,
    priceOpen,
    sl: 0,
    tp: 0,
    comment: '',
    createdAtMs: SEEDED_AT_MS + i * HOUR_MS,
    leverage,
    rateMargin,
    invested: investedIn(listed, units, priceOpen, rateMargin, leverage),
  };
}

/** A position that was opened at another price, so that it has a profit or loss. Every second one has stop-loss and take-profit. */
function opened(terms: Terms, i: number, random: Random): OpenPosition {
  const { listed, isBuy, priceOpen: market, units, leverage, rateMargin } = terms;
  const { digits } = listed.wire;
  const stray = VOLATILITY[listed.kind];
  const priceOpen = round(market * (1 + (random() - 0.5) * 50 * stray), digits);
  const side = isBuy ? 1 : -1;
  const isProtected = i % 2 === 0;
  return {
    ...terms,
    priceOpen,
    invested: investedIn(listed, units, priceOpen, rateMargin, leverage),
    sl: isProtected ? round(market * (1 - side * 100 * stray), digits) : 0,
    tp: isProtected ? round(market * (1 + side * 150 * stray), digits) : 0,
    storage: listed.wire.swap === undefined ? 0 : -round(random() * 5, 2),
  };
}

function pending(terms: Terms, random: Random): PendingOrder {
  const { listed, isBuy, units, leverage, rateMargin } = terms;
  const isLimit = random() < 0.6;
  const away = (12 + random() * 24) * VOLATILITY[listed.kind];
  const side = isBuy === isLimit ? -1 : 1;
  const priceOpen = round(terms.priceOpen * (1 + side * away), listed.wire.digits);
  const invested = investedIn(listed, units, priceOpen, rateMargin, leverage);
  return { ...terms, priceOpen, invested, isLimit };
}
