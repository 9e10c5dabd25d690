import type { SentHours } from '../gateway/operations/get-all-tickers.ts';
import type { Kind } from './groups.ts';
import data from './instruments.json' with { type: 'json' };
import { createRandom, pick, type Random } from './random.ts';

/** The source data of an instrument, from which its catalog row is made. */
export interface Listing {
  readonly symbol: string;
  readonly name: string;
  readonly kind: Kind;
  readonly price: number;
  readonly sharia: 'QUESTIONABLE' | 'COMPLIANT' | 'NONCOMPLIANT';
  /** A global industry code of six digits, of which the first two are the sector. Only shares have one. */
  readonly industry?: number;
}

/** The properties that instruments of one kind share. */
interface KindTerms {
  readonly text: string;
  /** The relative standard deviation of a price per tick. */
  readonly volatility: number;
  readonly leverage: number;
  readonly calc: number;
  readonly min: number;
  readonly max: number;
  readonly swap: number;
  /** The decimals of a price below a limit, and of other prices. A pair with the yen has fewer than other pairs. */
  readonly digits: { readonly below: number; readonly low: number; readonly high: number };
  /** The hours of trading and of quotes, in UTC. */
  readonly hours: string[];
  /** Invented hours of an exchange, in its own `timezone`. They need not agree with `hours`. */
  readonly tradingHours: SentHours;
}

/** Orders of these instruments always behave as the symbol says. */
export const TEST_REJECT = 'TEST.REJECT';
export const TEST_UNKNOWN = 'TEST.UNKNOWN';
export const TEST_SLOW = 'TEST.SLOW';
export const TEST_EMPTY = 'TEST.EMPTY';

// All instruments of a kind share these objects, so that a hundred thousand instruments fit in memory.
export const KINDS: Readonly<Record<Kind, KindTerms>> = data.kinds;
export const TEST_LISTINGS = data.test as readonly Listing[];
/** The demonstration accounts hold the first of these. A small catalog leaves out the last ones. */
export const BASE_LISTINGS = data.base as readonly Listing[];
/** Only the professional group trades these. */
export const PRO_LISTINGS = data.professional as readonly Listing[];
/** The currency of a symbol, or of the suffix behind its point; US dollars for all others. */
export const CURRENCIES: Readonly<Record<string, string>> = data.currencies;

export function isTestSymbol(symbol: string): boolean {
  return symbol.startsWith('TEST.');
}

const { forms, suffixes, sectors } = data.companies;
const NAME_STARTS = data.companies.starts.split(' ');
const NAME_ENDS = data.companies.ends.split(' ');
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const SHARIA = ['COMPLIANT', 'COMPLIANT', 'QUESTIONABLE', 'NONCOMPLIANT'] as const;

/** Generates made-up companies with unique symbols. The same seed gives the same companies. Adds the symbols to `taken`. */
export function generateListings(seed: string, count: number, taken: Set<string>): Listing[] {
  const random = createRandom(`${seed}/listings`);
  const listings: Listing[] = [];
  while (listings.length < count) {
    const symbol = makeSymbol(random);
    if (taken.has(symbol)) continue;
    taken.add(symbol);
    listings.push(makeListing(random, symbol));
  }
  return listings;
}

function makeListing(random: Random, symbol: string): Listing {
  const { sector, lines } = pick(random, sectors);
  const line = Math.floor(random() * lines.length);
  const name = `${pick(random, NAME_STARTS)}${pick(random, NAME_ENDS)}`;
  return {
    symbol,
    name: `${name} ${lines[line]} ${pick(random, forms)}`,
    kind: 'equity',
    // From 5 to 600; low prices are as frequent as high ones on a logarithmic scale.
    price: Math.round(500 * 120 ** random()) / 100,
    sharia: pick(random, SHARIA),
    industry: sector * 10_000 + 1_010 + line * 10,
  };
}

function makeSymbol(random: Random): string {
  const length = symbolLength(random);
  let symbol = '';
  for (let i = 0; i < length; i += 1) symbol += LETTERS[Math.floor(random() * LETTERS.length)];
  return random() < 0.12 ? symbol + pick(random, suffixes) : symbol;
}

function symbolLength(random: Random): number {
  if (random() < 0.25) return 3;
  return random() < 0.6 ? 4 : 5;
}
