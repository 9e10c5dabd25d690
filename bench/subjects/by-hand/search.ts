import type { toInstrument } from './mapping.ts';

type Instrument = ReturnType<typeof toInstrument>;
/** The instruments with a word that begins alike, each with the rank of its match; the best matches are first. */
type Matches = ReadonlyMap<Instrument, number>;

/** The matches of each beginning of a word. */
export type SearchIndex = ReadonlyMap<string, Matches>;

const BETWEEN_WORDS = /[\s\p{P}]/u;
const NO_MATCHES: Matches = new Map();

/** What a word is matched with, by rank: the symbol, its beginning, the words of the name, those of the description. */
const BEGINNINGS_BY_RANK: readonly ((instrument: Instrument) => readonly string[])[] = [
  ({ symbol }) => [symbol.toLowerCase()],
  ({ symbol }) => beginningsAt(symbol.toLowerCase(), 0),
  ({ name }) => beginningsIn(name.toLowerCase()),
  ({ description }) => beginningsIn(description.toLowerCase()),
];

/** `instruments` are sorted by their ids, and so are those of equal rank. */
export function indexOf(instruments: readonly Instrument[]): SearchIndex {
  const index = new Map<string, Map<Instrument, number>>();
  for (const [rank, beginningsOf] of BEGINNINGS_BY_RANK.entries()) {
    for (const instrument of instruments) {
      for (const beginning of beginningsOf(instrument)) {
        const matches = index.get(beginning) ?? new Map<Instrument, number>();
        index.set(beginning, matches);
        if (!matches.has(instrument)) matches.set(instrument, rank);
      }
    }
  }
  return index;
}

/** The word that is matched worst decides. */
export function search(index: SearchIndex, term: string, count: number): Instrument[] {
  const words = term.toLowerCase().trim().split(/\s+/);
  const matches = words.map((word) => index.get(word) ?? NO_MATCHES);
  const [fewest = NO_MATCHES, ...others] = matches.sort((a, b) => a.size - b.size);
  const found: { rank: number; instrument: Instrument }[] = [];
  for (const [instrument, ownRank] of fewest) {
    // The matches of one word are sorted already.
    if (others.length === 0 && found.length === count) break;
    const ranks = others.map((other) => other.get(instrument) ?? Infinity);
    const rank = Math.max(ownRank, ...ranks);
    if (rank < Infinity) found.push({ rank, instrument });
  }
  found.sort((a, b) => a.rank - b.rank || (a.instrument.id < b.instrument.id ? -1 : 1));
  return found.slice(0, count).map(({ instrument }) => instrument);
}

function beginningsIn(text: string): string[] {
  const beginnings: string[] = [];
  for (let start = 0; start < text.length; start += 1) {
    const startsWord = start === 0 || BETWEEN_WORDS.test(text[start - 1] as string);
    if (startsWord) beginnings.push(...beginningsAt(text, start));
  }
  return beginnings;
}

/** The beginnings of the word at `start`, which a space ends. */
function beginningsAt(text: string, start: number): string[] {
  const [word = ''] = text.slice(start).split(/\s/, 1);
  return Array.from(word, (_, index) => word.slice(0, index + 1));
}
