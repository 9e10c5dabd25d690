import { compareText, firstWhere } from '../sorting.ts';

/** An inverted index of the instruments by word. All words are added before the first look-up. */
export class WordIndex {
  readonly #ordinals = new Map<string, number[]>();
  #words: readonly string[] | null = null;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const known = this.#ordinals.get(word);
    if (known === undefined) this.#ordinals.set(word, [ordinal]);
    else if (known.at(-1) !== ordinal) known.push(ordinal);
  }

  /** Sorted, so words with the same prefix are adjacent. */
  get words(): readonly string[] {
    this.#words ??= [...this.#ordinals.keys()].sort(compareText);
    return this.#words;
  }

  withWord(word: string): readonly number[] {
    return this.#ordinals.get(word) ?? [];
  }

  /** Can return an ordinal twice. */
  withPrefix(prefix: string): readonly number[] {
    const { words } = this;
    const from = firstWhere(0, words.length, (at) => (words[at] as string) >= prefix);
    const beyond = firstWhere(from, words.length, (at) => !words[at]?.startsWith(prefix));
    return words.slice(from, beyond).flatMap((word) => this.withWord(word));
  }
}
