import type { Pace } from '../sorting.ts';
import { compareText, firstWhere, sortInSlices } from '../sorting.ts';
import { lettersIn } from './typos.ts';

export type Visit = (ordinal: number) => void;

interface WordIndexParts {
  readonly words: readonly string[];
  readonly letters: Int32Array;
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
}

/** An inverted index of the instruments by word. Words are sorted, so that those with one prefix are adjacent. */
export class WordIndex {
  readonly words: readonly string[];
  /** The letters of each word as bits. */
  readonly letters: Int32Array;
  /** The start of each word's postings; one more entry ends the last. */
  readonly #starts: Uint32Array;
  // All postings are in one array, so that those of a prefix are one range of it.
  readonly #postings: Uint32Array;

  constructor({ words, letters, starts, postings }: WordIndexParts) {
    this.words = words;
    this.letters = letters;
    this.#starts = starts;
    this.#postings = postings;
  }

  withWord(word: string, visit: Visit): void {
    const at = this.#firstFrom(word);
    if (this.words[at] === word) this.visitRange(at, at + 1, visit);
  }

  withPrefix(prefix: string, visit: Visit): void {
    const from = this.#firstFrom(prefix);
    this.visitRange(from, this.#firstBeyond(prefix, from), visit);
  }

  /** Visits the instruments that contain a word from `from` to before `to`. */
  visitRange(from: number, to: number, visit: Visit): void {
    const end = this.#starts[to] ?? 0;
    for (let at = this.#starts[from] ?? 0; at < end; at += 1) visit(this.#postings[at] as number);
  }

  #firstFrom(word: string): number {
    return firstWhere(0, this.words.length, (at) => (this.words[at] as string) >= word);
  }

  #firstBeyond(prefix: string, from: number): number {
    return firstWhere(from, this.words.length, (at) => !this.words[at]?.startsWith(prefix));
  }
}

/** Collects words in any order and sorts them at the end. */
export class WordIndexBuilder {
  readonly #ordinals = new Map<string, number[]>();
  #count = 0;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const known = this.#ordinals.get(word);
    if (known === undefined) this.#ordinals.set(word, [ordinal]);
    else if (known.at(-1) !== ordinal) known.push(ordinal);
    else return;
    this.#count += 1;
  }

  async build(pace: Pace): Promise<WordIndex> {
    const words = await sortInSlices([...this.#ordinals.keys()], compareText, pace);
    const letters = new Int32Array(words.length);
    const starts = new Uint32Array(words.length + 1);
    const postings = new Uint32Array(this.#count);
    let end = 0;
    for (const [at, word] of words.entries()) {
      if (pace.isDue) await pace.rest();
      const ordinals = this.#ordinals.get(word) ?? [];
      postings.set(ordinals, end);
      end += ordinals.length;
      starts[at + 1] = end;
      letters[at] = lettersIn(word);
    }
    return new WordIndex({ words, letters, starts, postings });
  }
}
