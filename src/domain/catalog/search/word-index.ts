import { isTypoOf, lettersOf, MIN_LENGTH_OF_TYPO, mayBeTypo } from '../../../lib/typo.ts';
import { compareText, firstWhere } from '../sorting.ts';

/** An inverted index of the instruments by word. All words are added before the first look-up. */
export class WordIndex {
  readonly #ordinals = new Map<string, number[]>();
  #sorted: readonly string[] | null = null;
  /** The letters of each sorted word. */
  #letters: Int32Array | null = null;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const known = this.#ordinals.get(word);
    if (known === undefined) this.#ordinals.set(word, [ordinal]);
    else if (known.at(-1) !== ordinal) known.push(ordinal);
  }

  withWord(word: string): readonly number[] {
    return this.#ordinals.get(word) ?? [];
  }

  /** Can return an ordinal twice. */
  withPrefix(prefix: string): readonly number[] {
    const words = this.#words;
    const from = firstWhere(0, words.length, (at) => (words[at] as string) >= prefix);
    const beyond = firstWhere(from, words.length, (at) => !words[at]?.startsWith(prefix));
    return words.slice(from, beyond).flatMap((word) => this.withWord(word));
  }

  /** Can return an ordinal twice. */
  withTypo(typed: string): readonly number[] {
    if (typed.length < MIN_LENGTH_OF_TYPO) return [];
    this.#letters ??= Int32Array.from(this.#words, lettersOf);
    const letters = this.#letters;
    const lettersTyped = lettersOf(typed);
    const typos: string[] = [];
    // A loop over the numbers alone, which is several times as fast as one that reads each word.
    for (let at = 0; at < letters.length; at += 1) {
      if (!mayBeTypo(letters[at] as number, lettersTyped)) continue;
      const word = this.#words[at] as string;
      if (isTypoOf(word, typed)) typos.push(word);
    }
    return typos.flatMap((word) => this.withWord(word));
  }

  /** Sorted, so words with the same prefix are adjacent. */
  get #words(): readonly string[] {
    this.#sorted ??= [...this.#ordinals.keys()].sort(compareText);
    return this.#sorted;
  }
}
