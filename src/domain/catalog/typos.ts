/** How many slips a word of this length may have: in a short one every second word would be one away. */
function editsAllowed(length: number): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2;
}

// From here on what has been typed so far may hold the slip: `micrsof` finds Microsoft.
const SHORTEST_BEGINNING = 6;
// A longer word is no word anybody typed, and its table would not be small any more.
const LONGEST_WORD = 32;

/**
 * Finds the words that are a slip or two away from the one given: a letter too many, too few, wrong, or
 * two swapped. The words are sorted, so each shares the beginning of its table with the one before.
 * `visit` gets ranges, from and to before.
 */
export function findTypos(
  words: readonly string[],
  word: string,
  visit: (from: number, to: number) => void,
): void {
  const edits = editsAllowed(word.length);
  if (edits === 0 || word.length > LONGEST_WORD) return;
  const table = new EditTable(word, edits);
  const asBeginning = word.length >= SHORTEST_BEGINNING;
  let at = 0;
  let before = '';
  while (at < words.length) {
    const candidate = words[at] as string;
    table.keep(commonLength(before, candidate));
    before = candidate;
    const verdict = table.extend(candidate, asBeginning);
    if (verdict === 'whole') visit(at, at + 1);
    if (verdict !== 'beginning' && verdict !== 'beyond') {
      at += 1;
      continue;
    }
    const end = endOfPrefix(words, at, candidate.slice(0, table.depth));
    if (verdict === 'beginning') visit(at, end);
    at = end;
  }
}

type Verdict = 'whole' | 'beginning' | 'beyond' | 'none';

/** Rows of edit distances between the word and ever longer beginnings of a candidate. */
class EditTable {
  readonly #word: string;
  readonly #edits: number;
  readonly #width: number;
  readonly #rows: Uint8Array;
  /** How many letters of the candidate have their row. */
  depth = 0;

  constructor(word: string, edits: number) {
    this.#word = word;
    this.#edits = edits;
    this.#width = word.length + 1;
    // Beyond so many letters the distance is too long already.
    this.#rows = new Uint8Array((word.length + edits + 2) * this.#width);
    for (let column = 0; column < this.#width; column += 1) this.#rows[column] = column;
  }

  keep(letters: number): void {
    this.depth = Math.min(this.depth, letters);
  }

  extend(candidate: string, asBeginning: boolean): Verdict {
    while (this.depth < candidate.length) {
      const nearest = this.#addRow(candidate);
      if (nearest > this.#edits) return 'beyond';
      if (asBeginning && this.#distance() <= this.#edits) return 'beginning';
    }
    return this.#distance() <= this.#edits ? 'whole' : 'none';
  }

  #distance(): number {
    return this.#rows[this.depth * this.#width + this.#width - 1] as number;
  }

  /** Answers the row's smallest distance: it can only grow with further letters. */
  #addRow(candidate: string): number {
    const rows = this.#rows;
    const letter = candidate.charCodeAt(this.depth);
    const previousLetter = candidate.charCodeAt(this.depth - 1);
    this.depth += 1;
    const row = this.depth * this.#width;
    const above = row - this.#width;
    rows[row] = this.depth;
    let nearest = this.depth;
    for (let column = 1; column < this.#width; column += 1) {
      const wanted = this.#word.charCodeAt(column - 1);
      const swap = (rows[above + column - 1] as number) + (wanted === letter ? 0 : 1);
      const skip = Math.min(rows[above + column] as number, rows[row + column - 1] as number) + 1;
      let distance = Math.min(swap, skip);
      if (
        column > 1 &&
        this.depth > 1 &&
        wanted === previousLetter &&
        this.#word.charCodeAt(column - 2) === letter
      ) {
        distance = Math.min(distance, (rows[above - this.#width + column - 2] as number) + 1);
      }
      rows[row + column] = distance;
      if (distance < nearest) nearest = distance;
    }
    return nearest;
  }
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

function endOfPrefix(words: readonly string[], from: number, prefix: string): number {
  let end = from + 1;
  while (end < words.length && words[end]?.startsWith(prefix)) end += 1;
  return end;
}
