import { bare, fold, LETTER, PUNCTUATION } from './search-words.ts';

/** The two currencies of a pair, folded. */
interface CurrencyPair {
  readonly base: string;
  readonly quote: string;
}

/** The symbol of an instrument, and its currencies where they are known. */
interface Symbols {
  readonly symbol: string;
  readonly mCurrency?: string;
  readonly pCurrency?: string;
}

const BETWEEN = new RegExp(`[\\s${PUNCTUATION}]+`, 'u');
const ALL_BETWEEN = new RegExp(BETWEEN, 'gu');
// ISO 4217 has three letters, and cryptocurrencies have up to five.
const CODE = new RegExp(`^[${LETTER}]{3,5}$`, 'u');

/**
 * The pair that a symbol spells, folded: `EURUSD`, traded in EUR and priced in USD, `EUR/USD`, `EURUSD.r`, `EURUSDm`. The gateway does not say which
 * instruments are pairs, so the quote has to be the currency in which profit is counted.
 */
export function currencyPairOf({
  symbol,
  mCurrency = '',
  pCurrency = '',
}: Symbols): CurrencyPair | null {
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
  return folded.replace(ALL_BETWEEN, '');
}
