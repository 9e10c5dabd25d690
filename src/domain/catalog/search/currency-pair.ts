import type { Instrument } from '../../../gateway/model.ts';
import { bare, fold } from './words.ts';

const BETWEEN = /[\s\p{P}]+/u;
// ISO 4217 has three letters, and cryptocurrencies have up to five.
const CODE = /^\p{L}{3,5}$/u;

/**
 * The pair that a symbol spells, folded: `EURUSD`, traded in EUR and priced in USD, `EUR/USD`, `EURUSD.r`, `EURUSDm`. The interface does not say which
 * instruments are pairs, so the quote has to be the currency in which profit is counted.
 */
export function currencyPairOf({
  symbol,
  mCurrency,
  pCurrency,
}: Pick<Instrument, 'symbol' | 'mCurrency' | 'pCurrency'>) {
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
  return folded.split(BETWEEN).join('');
}
