import type { Instrument } from '../generated/rows.ts';
import { bare, fold, LETTER, PUNCTUATION } from './fold.ts';
import type { KeyFields } from './instrument.ts';

/** The two currencies of a pair, folded. */
export interface CurrencyPair {
  readonly base: string;
  readonly quote: string;
}

type Currencies = Partial<Pick<Instrument, 'mCurrency' | 'pCurrency'>>;

const BETWEEN = new RegExp(`[\\s${PUNCTUATION}]+`, 'u');
const ALL_BETWEEN = new RegExp(BETWEEN, 'gu');
// ISO 4217 has three letters, and cryptocurrencies have up to five.
const CODE = new RegExp(`^[${LETTER}]{3,5}$`, 'u');

/** The pair that a symbol spells, as the server reads it; null too where the copy has no currencies. */
export function currencyPairOf({
  symbol,
  mCurrency = '',
  pCurrency = '',
}: Pick<KeyFields, 'symbol'> & Currencies): CurrencyPair | null {
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
