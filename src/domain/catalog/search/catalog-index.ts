import type { Instrument } from '../../../gateway/model.ts';
import { compareText, Pace, sortInSlices } from '../sorting.ts';
import { SearchIndex } from './search-index.ts';
import { WordIndexBuilder } from './word-index.ts';
import { fold, symbolForms, wordsOf } from './words.ts';

/** Lookup tables that are built once per version, to keep them off the hot path of a query. */
export interface CatalogIndex {
  /** The keys of the order by name, by ordinal: folded, so that `eBay` sorts among the E. */
  readonly nameKeys: readonly string[];
  /** Ordinals by folded name, then id. */
  readonly byName: Uint32Array;
  /** Ordinals by leverage, then id. */
  readonly byLeverage: Uint32Array;
  readonly search: SearchIndex;
}

export async function buildIndex(instruments: readonly Instrument[]): Promise<CatalogIndex> {
  const pace = new Pace();
  // The request that caused the version is answered first.
  await pace.rest();
  const nameKeys: string[] = [];
  const symbols = new WordIndexBuilder();
  const names = new WordIndexBuilder();
  const descriptions = new WordIndexBuilder();
  for (const [ordinal, { symbol, name, description }] of instruments.entries()) {
    if (pace.isDue) await pace.rest();
    const nameKey = fold(name);
    nameKeys.push(nameKey);
    for (const form of symbolForms(fold(symbol))) symbols.add(form, ordinal);
    for (const word of wordsOf(nameKey)) names.add(word, ordinal);
    for (const word of wordsOf(fold(description))) descriptions.add(word, ordinal);
  }
  const at = (ordinal: number) => instruments[ordinal] as Instrument;
  const byId = (a: number, b: number) => compareText(at(a).id, at(b).id);
  const ordinals = instruments.map((_instrument, ordinal) => ordinal);
  const byName = await sortInSlices(
    ordinals,
    (a, b) => compareText(nameKeys[a] ?? '', nameKeys[b] ?? '') || byId(a, b),
    pace,
  );
  const byLeverage = await sortInSlices(
    ordinals,
    (a, b) => at(a).leverage - at(b).leverage || byId(a, b),
    pace,
  );
  return {
    nameKeys,
    byName: Uint32Array.from(byName),
    byLeverage: Uint32Array.from(byLeverage),
    search: new SearchIndex(
      instruments.length,
      await symbols.build(pace),
      await names.build(pace),
      await descriptions.build(pace),
    ),
  };
}
