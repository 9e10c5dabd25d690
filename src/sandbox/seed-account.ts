import {
  type Account,
  figuresOf,
  investedIn,
  type OpenPosition,
  type PendingOrder,
} from './account.ts';
import { findGroup } from './groups.ts';
import type { Listed } from './instruments.ts';
import { KINDS } from './listings.ts';
import type { Quotes } from './market.ts';
import { round } from './money.ts';
import { createRandom, type Random } from './random.ts';
import { isLoadUser, type SandboxUser } from './users.ts';
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
/** The first instruments of the catalog, which demonstration accounts hold first. */
const WELL_KNOWN = 9;
/** Money is rounded to cents, so the money for one unit is computed from many. */
const MANY_UNITS = 1_000_000;

/** Creates an account's initial figures, positions and orders from the seed. */
export function seedAccount(user: SandboxUser, options: SeedOptions): Account {
  const account: Account = {
    user,
    positions: new Map(),
    orders: new Map(),
    methods: firstMethods(user),
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

/**
 * The instruments that an account holds: the well-known ones, then others from all over the catalog. A user for load tests
 * holds only others, so that a load test moves the prices of many instruments.
 */
function choose(
  user: SandboxUser,
  count: number,
  random: Random,
  tradeable: readonly Listed[],
): Listed[] {
  const knownCount = isLoadUser(user) ? 0 : Math.min(count, WELL_KNOWN);
  const others = tradeable.slice(knownCount);
  const wanted = count - knownCount;
  const step = wanted > 0 ? Math.max(1, Math.floor(others.length / wanted)) : 1;
  const start = Math.floor(random() * others.length);
  const spread = Array.from({ length: Math.min(wanted, others.length) }, (_, i) => {
    const index = (start + i * step) % others.length;
    return others[index] as Listed;
  });
  return [...tradeable.slice(0, knownCount), ...spread];
}

type Terms = Omit<OpenPosition, 'storage'>;

/** The terms of an account's holding number `i`; null if the smallest size costs too much. */
function termsOf(
  user: SandboxUser,
  i: number,
  listed: Listed,
  random: Random,
  quotes: Quotes,
): Terms | null {
  const { instrument, kind, index } = listed;
  const leverage = findGroup(user.group)?.leverage[kind] ?? 1;
  const rateMargin = round(quotes.rate(instrument.mCurrency), 6);
  const priceOpen = quotes.price(index);
  // A fortieth of the balance, more or less by up to a half.
  const budget = (user.balance / 40) * (0.5 + random());
  const perUnit = investedIn(listed, MANY_UNITS, priceOpen, rateMargin, leverage) / MANY_UNITS;
  const affordable = round(Math.floor(budget / perUnit / instrument.step) * instrument.step, 8);
  if (affordable < instrument.min) return null;
  const units = Math.min(affordable, instrument.max);
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

/**
 * A position that was opened at another price, so that it has a profit or loss. Every second position has a stop-loss and a
 * take-profit. All distances from the market's price are multiples of what the price usually moves in one tick.
 */
function opened(terms: Terms, i: number, random: Random): OpenPosition {
  const { listed, isBuy, priceOpen: market, units, leverage, rateMargin } = terms;
  const { digits } = listed.instrument;
  const tickMove = KINDS[listed.kind].volatility;
  const priceOpen = round(market * (1 + (random() - 0.5) * 50 * tickMove), digits);
  const direction = isBuy ? 1 : -1;
  const isProtected = i % 2 === 0;
  return {
    ...terms,
    priceOpen,
    invested: investedIn(listed, units, priceOpen, rateMargin, leverage),
    sl: isProtected ? round(market * (1 - direction * 100 * tickMove), digits) : 0,
    tp: isProtected ? round(market * (1 + direction * 150 * tickMove), digits) : 0,
    storage: listed.instrument.swap === undefined ? 0 : -round(random() * 5, 2),
  };
}

function pending(terms: Terms, random: Random): PendingOrder {
  const { listed, isBuy, units, leverage, rateMargin } = terms;
  const isLimit = random() < 0.6;
  const distance = (12 + random() * 24) * KINDS[listed.kind].volatility;
  // A buy limit and a sell stop wait below the market's price, the other two above.
  const direction = isBuy === isLimit ? -1 : 1;
  const priceOpen = round(terms.priceOpen * (1 + direction * distance), listed.instrument.digits);
  const invested = investedIn(listed, units, priceOpen, rateMargin, leverage);
  return { ...terms, priceOpen, invested, isLimit };
}
