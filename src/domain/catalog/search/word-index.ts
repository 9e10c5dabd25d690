import { compareText, firstWhere } from '../sorting.ts';

/** Collects the ordinals of the instruments that contain each word, for a `WordIndex`. */
export class WordCollector {
  readonly ordinals = new Map<string, number[]>();

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const known = this.ordinals.get(word);
    if (known === undefined) this.ordinals.set(word, [ordinal]);
    else if (known.at(-1) !== ordinal) known.push(ordinal);
  }
}

/** An inverted index of the instruments by word. A prefix can return an ordinal twice. */
export class WordIndex {
  /** Sorted, so words with the same prefix are adjacent. */
  readonly words: readonly string[];
  /** The postings of all words in one array, in which the postings of a prefix are one range. */
  readonly #postings: Uint32Array;
  /** The start of each word's postings, and the end of the last word's. */
  readonly #starts: Uint32Array;

  constructor({ ordinals }: WordCollector) {
    this.words = [...ordinals.keys()].sort(compareText);
    const postings = this.words.map((word) => ordinals.get(word) ?? []);
    this.#postings = Uint32Array.from(postings.flat());
    this.#starts = new Uint32Array(postings.length + 1);
    for (const [at, { length }] of postings.entries()) {
      this.#starts[at + 1] = (this.#starts[at] as number) + length;
    }
  }

  withWordAt(at: number): Uint32Array {
    return this.#between(at, at + 1);
  }

  withWord(word: string): Uint32Array {
    const at = this.#firstFrom(word);
    return this.#between(at, this.words[at] === word ? at + 1 : at);
  }

  withPrefix(prefix: string): Uint32Array {
    const { words } = this;
    const from = this.#firstFrom(prefix);
    const beyond = firstWhere(from, words.length, (at) => !words[at]?.startsWith(prefix));
    return this.#between(from, beyond);
  }

  #firstFrom(word: string): number {
    return firstWhere(0, this.words.length, (at) => (this.words[at] as string) >= word);
  }

  #between(from: number, to: number): Uint32Array {
    return this.#postings.subarray(this.#starts[from], this.#starts[to]);
  }
}
