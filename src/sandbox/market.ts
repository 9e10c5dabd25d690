import type { Listed } from './instruments.ts';
import { KINDS, TEST_LISTINGS } from './listings.ts';
import { round } from './money.ts';
import { hash, noise } from './random.ts';

// A tick must cost the same with a hundred thousand instruments as with five hundred. So each tick moves the prices of the
// first instruments, and of the next few of all others in turn.
const ALWAYS_MOVING = 100;
const MOVING_IN_TURN = 64;

/** Prices by the index of their instrument. */
export class Quotes {
  readonly #prices: Float64Array;
  readonly #pairs: ReadonlyMap<string, number>;

  constructor(prices: Float64Array, pairs: ReadonlyMap<string, number>) {
    this.#prices = prices;
    this.#pairs = pairs;
  }

  price(index: number): number {
    return this.#prices[index] as number;
  }

  /** Returns US dollars for one unit of the currency; 1 for a currency without a pair. */
  rate(currency: string): number {
    if (currency === 'USD') return 1;
    const direct = this.#pairs.get(`${currency}USD`);
    if (direct !== undefined) return this.price(direct);
    const inverse = this.#pairs.get(`USD${currency}`);
    return inverse === undefined ? 1 : 1 / this.price(inverse);
  }
}

export class Market extends Quotes {
  /** The first prices of the seed, which never move. The holdings of each new account are made from them. */
  readonly opening: Quotes;
  readonly #seedBits: number;
  readonly #instruments: readonly Listed[];
  readonly #prices: Float64Array;
  readonly #changedAtMs: Float64Array;
  #ticks = 0;

  constructor(seed: string, instruments: readonly Listed[], startMs: number) {
    const prices = Float64Array.from(instruments, ({ firstPrice, instrument }) =>
      round(firstPrice, instrument.digits),
    );
    const pairs = new Map(instruments.map(({ instrument, index }) => [instrument.symbol, index]));
    super(prices, pairs);
    this.opening = new Quotes(prices.slice(), pairs);
    this.#seedBits = hash(`${seed}/market`);
    this.#instruments = instruments;
    this.#prices = prices;
    this.#changedAtMs = new Float64Array(instruments.length).fill(startMs);
  }

  /** The time of this price's last change. */
  changedAtMs(index: number): number {
    return this.#changedAtMs[index] as number;
  }

  /** Moves the prices of held instruments, of the first instruments and of some others. Returns the indexes that changed. */
  tick(held: Iterable<number>, nowMs: number): number[] {
    this.#ticks += 1;
    const count = this.#instruments.length;
    const moving = new Set(held);
    for (let index = 0; index < Math.min(ALWAYS_MOVING, count); index += 1) moving.add(index);
    const firstInTurn = this.#ticks * MOVING_IN_TURN;
    for (let i = 0; i < MOVING_IN_TURN; i += 1) moving.add((firstInTurn + i) % count);
    // The test instruments come first. Only a control changes their prices.
    const indexes = [...moving].filter((index) => index >= TEST_LISTINGS.length);
    return indexes.filter((index) => this.put(index, this.#nextPrice(index), nowMs));
  }

  /** Sets a price; returns false if it has not changed. */
  put(index: number, price: number, nowMs: number): boolean {
    if (this.#prices[index] === price) return false;
    this.#prices[index] = price;
    this.#changedAtMs[index] = nowMs;
    return true;
  }

  #nextPrice(index: number): number {
    const { kind, firstPrice, instrument } = this.#instruments[index] as Listed;
    const price = this.price(index);
    // A pull towards the first price keeps the prices plausible in a sandbox that runs for weeks. There is no pull if the
    // logarithm is NaN: a test can set a price below 0.
    const pull = (Math.log(firstPrice / price) || 0) * 1e-3;
    const move = KINDS[kind].volatility * noise(this.#seedBits, index, this.#ticks);
    const lowestPrice = 10 ** -instrument.digits;
    return Math.max(round(price * (1 + pull + move), instrument.digits), lowestPrice);
  }
}
