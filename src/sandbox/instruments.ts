import { HOURS, type SentInstrument, SWAP } from '../gateway/operations/get-all-tickers.ts';
import { type Kind, PRO, STANDARD } from './groups.ts';
import {
  BASE_LISTINGS,
  CURRENCIES,
  generateListings,
  isTestSymbol,
  KINDS,
  type Listing,
  PRO_LISTINGS,
  TEST_LISTINGS,
} from './listings.ts';
import { hash } from './random.ts';

/** An instrument and its price before the first tick. */
export interface Listed {
  readonly index: number;
  readonly kind: Kind;
  readonly firstPrice: number;
  /** The instrument on standard terms. Its `access` names the groups that may trade it. */
  readonly instrument: SentInstrument;
}

/** Trading modes, in the numbering of trading platforms. */
const MODE_CLOSED = 0;
export const MODE_FULL = 4;
/** The gateway's code for a margin that is calculated from the base currency alone, without the price. */
export const CALC_FOREX = 0;

/**
 * Creates all instruments of the sandbox. The standard group's catalog has the first `count` of them, and at least the test
 * instruments. Further base listings are in no catalog, but have a price, because currency conversion needs it.
 */
export function createInstruments(seed: string, count: number): Listed[] {
  const known = [...TEST_LISTINGS, ...BASE_LISTINGS];
  const taken = new Set([...known, ...PRO_LISTINGS].map((listing) => listing.symbol));
  const generated = generateListings(seed, Math.max(0, count - known.length), taken);
  const catalogued = Math.max(count, TEST_LISTINGS.length);
  const listed = [...known, ...generated].map((listing, index) =>
    toListed(listing, index, index < catalogued ? groupsOf(index) : []),
  );
  for (const listing of PRO_LISTINGS) listed.push(toListed(listing, listed.length, PRO_ONLY));
  return listed;
}

/** Makes an instrument from a listing. By a hash of the symbol, some instruments differ from the others of their kind. */
export function toListed(listing: Listing, index: number, access: string[]): Listed {
  const { kind, symbol, price, industry = 0 } = listing;
  const terms = KINDS[kind];
  const hashed = hash(symbol);
  const digits = price < terms.digits.below ? terms.digits.low : terms.digits.high;
  const [mCurrency, pCurrency] = currencies(listing);
  const isTest = isTestSymbol(symbol);
  const instrument: SentInstrument = {
    id: symbol,
    symbol,
    logo: `https://logos.example.com/${symbol.toLowerCase()}.svg`,
    name: listing.name,
    delayed: hashed % 11 === 0 && !isTest,
    description: describe(listing),
    sharia: listing.sharia === 'COMPLIANT',
    shariaStatus: listing.sharia,
    leverage: terms.leverage,
    pdt: kind === 'equity',
    digits,
    session: terms.hours,
    quotes: terms.hours,
    sector: Math.floor(industry / 10_000),
    industry,
    mode: symbol === 'USDTRY' ? MODE_CLOSED : MODE_FULL,
    calc: terms.calc,
    min: terms.min,
    max: terms.max,
    step: terms.min,
    limit: 0,
    mCurrency,
    pCurrency,
    access,
    // These four fields are optional in the gateway's interface, so some rows omit them.
    tradingHours: hashed % 9 === 3 ? undefined : HOURS.toWire(terms.tradingHours),
    swap: hashed % 7 === 5 ? undefined : swapOf(terms),
    mFx: conversionPair(mCurrency),
    pFx: conversionPair(pCurrency),
  };
  return { index, kind, firstPrice: price, instrument };
}

const PRO_ONLY = [PRO];
const STANDARD_ONLY = [STANDARD];
const BOTH = [STANDARD, PRO];

/** Every tenth instrument after the first ten is for the standard group only. */
function groupsOf(index: number): string[] {
  return index % 10 === 9 && index > 9 ? STANDARD_ONLY : BOTH;
}

/** Returns the margin currency and the profit currency. */
function currencies({ kind, symbol }: Listing): [string, string] {
  if (kind === 'forex') return [symbol.slice(0, 3), symbol.slice(3)];
  const suffix = symbol.split('.')[1] ?? '';
  const currency = CURRENCIES[symbol] ?? CURRENCIES[suffix] ?? 'USD';
  return [currency, currency];
}

const QUOTED_IN_USD = new Set(['EUR', 'GBP', 'AUD']);

function swapOf({ swap }: { readonly swap: number }) {
  return SWAP.toWire({ long: -swap, short: -swap / 2, mode: 5, tick: 3 });
}

function conversionPair(currency: string): string | undefined {
  if (currency === 'USD') return undefined;
  return QUOTED_IN_USD.has(currency) ? `${currency}USD` : `USD${currency}`;
}

function describe({ kind, name, symbol }: Listing): string {
  if (isTestSymbol(symbol)) return `${name}. For trying out a client.`;
  return `${name}. ${KINDS[kind].text}`;
}
