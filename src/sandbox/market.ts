import type { Listed } from './instruments.ts';
import { VOLATILITY } from './kind-styles.ts';
import { round } from './money.ts';
import { hash, noise } from './random.ts';
import { TEST_LISTINGS } from './test-instruments.ts';

export interface Quotes {
  price(index: number): number;
  /** Returns US dollars for one unit of the currency. */
  rate(currency: string): number;
}

export interface Market extends Quotes {
  /** Increases with every change of a price. */
  readonly version: number;
  /** The seed's own prices, which never move: an account begins with them, whenever it is first used. */
  readonly opening: Quotes;
  /** The time of this price's last change. */
  changedAtMs(index: number): number;
  /** Moves the prices of held instruments, of the base list and of a sample of the rest; returns the changed ones. */
  tick(held: Iterable<number>, nowMs: number): number[];
  /** Sets a price; returns false where it has not changed. */
  put(index: number, price: number, nowMs: number): boolean;
}

// A tick must cost the same with a hundred thousand instruments as with five hundred, so a rotating
// sample of the instruments without positions moves.
const ALWAYS_MOVING = 100;
const SAMPLE = 64;

export function createMarket(
  seed: string,
  instruments: readonly Listed[],
  startMs: number,
): Market {
  const seedBits = hash(`${seed}/market`);
  const prices = Float64Array.from(instruments, ({ firstPrice, wire }) =>
    round(firstPrice, wire.digits),
  );
  const openingPrices = prices.slice();
  const changedAtMs = new Float64Array(instruments.length).fill(startMs);
  const pairs = new Map(instruments.map(({ wire, index }) => [wire._id, index]));
  let ticks = 0;
  let version = 0;

  function move(index: number, nowMs: number): boolean {
    const { kind, firstPrice, wire } = instruments[index] as Listed;
    const price = prices[index] as number;
    // A pull towards the first price keeps a sandbox that runs for weeks in a plausible range.
    const pull = (Math.log(firstPrice / price) || 0) * 1e-3;
    const next = price * (1 + pull + VOLATILITY[kind] * noise(seedBits, index, ticks));
    return set(index, Math.max(round(next, wire.digits), 10 ** -wire.digits), nowMs);
  }

  function set(index: number, price: number, nowMs: number): boolean {
    if (prices[index] === price) return false;
    prices[index] = price;
    changedAtMs[index] = nowMs;
    return true;
  }

  function quotes(of: Float64Array): Quotes {
    return {
      price: (index) => of[index] as number,
      rate(currency) {
        if (currency === 'USD') return 1;
        const direct = pairs.get(`${currency}USD`);
        if (direct !== undefined) return of[direct] as number;
        const inverse = pairs.get(`USD${currency}`);
        return inverse === undefined ? 1 : 1 / (of[inverse] as number);
      },
    };
  }

  return {
    get version() {
      return version;
    },
    opening: quotes(openingPrices),
    ...quotes(prices),
    changedAtMs: (index) => changedAtMs[index] as number,
    tick(held, nowMs) {
      ticks += 1;
      const moving = new Set(held);
      const always = Math.min(ALWAYS_MOVING, instruments.length);
      // The test instruments come first; they stand still unless a price is set.
      for (let index = TEST_LISTINGS.length; index < always; index += 1) moving.add(index);
      for (let i = 0; i < SAMPLE; i += 1) moving.add((ticks * SAMPLE + i) % instruments.length);
      const changed = [...moving].filter(
        (index) => index >= TEST_LISTINGS.length && move(index, nowMs),
      );
      if (changed.length > 0) version += 1;
      return changed;
    },
    put(index, price, nowMs) {
      const changed = set(index, price, nowMs);
      if (changed) version += 1;
      return changed;
    },
  };
}
