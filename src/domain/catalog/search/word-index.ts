import type { FairScheduler } from '../../../lib/fair-scheduler.ts';
import { compareText, firstWhere } from '../sorting.ts';

export type WordIndex = Awaited<ReturnType<WordIndexBuilder['build']>>;

/** An inverted index of the instruments by word: collects words in any order and sorts them at the end. */
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

  async build(scheduler: FairScheduler) {
    // Words with one prefix are adjacent.
    const words = [...this.#ordinals.keys()].sort(compareText);
    // The start of each word's postings; one more entry ends the last.
    const starts = new Uint32Array(words.length + 1);
    // All postings are in one array, so that those of a prefix are one range of it.
    const postings = new Uint32Array(this.#count);
    let end = 0;
    for (const [at, word] of words.entries()) {
      if (scheduler.isSliceOver()) await scheduler.turn('catalog');
      const ordinals = this.#ordinals.get(word) ?? [];
      postings.set(ordinals, end);
      end += ordinals.length;
      starts[at + 1] = end;
    }
    const firstFrom = (word: string) =>
      firstWhere(0, words.length, (at) => (words[at] as string) >= word);
    /** The ordinals of the instruments that contain a word from `from` to before `to`; some come twice. */
    const between = (from: number, to: number) => postings.subarray(starts[from], starts[to]);
    return {
      words,
      withWordAt: (at: number) => between(at, at + 1),
      withWord(word: string): Uint32Array {
        const at = firstFrom(word);
        return between(at, words[at] === word ? at + 1 : at);
      },
      withPrefix(prefix: string): Uint32Array {
        const from = firstFrom(prefix);
        const beyond = firstWhere(from, words.length, (at) => !words[at]?.startsWith(prefix));
        return between(from, beyond);
      },
    };
  }
}
