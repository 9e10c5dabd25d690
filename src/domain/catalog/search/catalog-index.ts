import type { Instrument } from '../../../gateway/operations/get-all-tickers.ts';
import { Slices } from '../../../lib/event-loop-turns.ts';
import { compareText } from '../sorting.ts';
import { fold, SearchIndex, splitWords, WordIndex } from './search-index.ts';

export type CatalogIndex = Awaited<ReturnType<typeof buildIndex>>;

/** Lookup tables that are built once per version, so that queries do not pay for them. */
export async function buildIndex(instruments: readonly Instrument[]) {
  const slices = new Slices();
  // The request that caused the new version is answered first.
  await slices.next();
  const nameKeys: string[] = [];
  const symbols = new WordIndex();
  const names = new WordIndex();
  const descriptions = new WordIndex();
  for (const [ordinal, instrument] of instruments.entries()) {
    if (slices.isOver) await slices.next();
    const { symbol, name, description } = instrument;
    const nameKey = fold(name);
    nameKeys.push(nameKey);
    const key = fold(symbol);
    symbols.add(key, ordinal);
    // `symbols` finds a symbol by its beginning alone. A quote currency within it, and its other words, are found like words
    // of the name: `usd` finds EURUSD, and `cash` finds US500.cash.
    const quote = fold(instrument.pCurrency);
    if (quote !== '' && key.includes(quote)) names.add(quote, ordinal);
    for (const word of splitWords(`${nameKey} ${key}`)) names.add(word, ordinal);
    for (const word of splitWords(fold(description))) descriptions.add(word, ordinal);
  }
  const at = (ordinal: number) => instruments[ordinal] as Instrument;
  const byId = (a: number, b: number) => compareText(at(a).id, at(b).id);
  const ordinals = instruments.map((_instrument, ordinal) => ordinal);
  const sorted = (compare: (a: number, b: number) => number) =>
    Uint32Array.from(ordinals.toSorted((a, b) => compare(a, b) || byId(a, b)));
  // Each of these steps takes less than 20 ms for 10,000 instruments.
  await slices.next();
  const byName = sorted((a, b) => compareText(nameKeys[a] ?? '', nameKeys[b] ?? ''));
  await slices.next();
  const byLeverage = sorted((a, b) => at(a).leverage - at(b).leverage);
  return {
    /** The folded names by ordinal. `byName` is sorted by them, not by the names, so that `eBay` is among the E. */
    nameKeys,
    /** Ordinals by folded name, then id. */
    byName,
    /** Ordinals by leverage, then id. */
    byLeverage,
    search: new SearchIndex(instruments.length, { symbols, names, descriptions }),
  };
}
