import type { Instrument } from '../../../gateway/model.ts';
import { bare, fold } from './words.ts';

/** The two currencies of a pair, folded: `EURUSD` is traded in EUR and priced in USD. */
export interface CurrencyPair {
  readonly base: string;
  readonly quote: string;
}

const BETWEEN = /[\s\p{P}]+/u;
const ALL_BETWEEN = new RegExp(BETWEEN, 'gu');
// ISO 4217 has three letters, and cryptocurrencies have up to five.
const CODE = /^\p{L}{3,5}$/u;

/**
 * The pair that a symbol spells: `EURUSD`, `EUR/USD`, `EURUSD.r`, `EURUSDm`. The interface does not say which
 * instruments are pairs, so the quote has to be the currency in which profit is counted.
 */
export function currencyPairOf({
  symbol,
  mCurrency,
  pCurrency,
}: Pick<Instrument, 'symbol' | 'mCurrency' | 'pCurrency'>): CurrencyPair | null {
  const quote = fold(pCurrency);
  const [first = '', second] = bare(fold(symbol)).split(BETWEEN);
  const base = second === quote ? first : baseBefore(quote, first, fold(mCurrency));
  return CODE.test(base) && CODE.test(quote) && base !== quote ? { base, quote } : null;
}

function baseBefore(quote: string, symbol: string, margin: string): string {
  if (symbol.endsWith(quote)) return symbol.slice(0, -quote.length);
  return symbol.startsWith(margin + quote) ? margin : '';
}

/** A folded text without what may stand between the currencies of a pair. */
export function joined(folded: string): string {
  return folded.replaceAll(ALL_BETWEEN, '');
}
