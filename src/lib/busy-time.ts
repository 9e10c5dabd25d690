/**
 * Measures how long at least one of several overlapping spans lasted. Spans are added when they
 * end, so each one ends after all before it, but may have begun before them.
 */
export class BusyTime {
  /** Starts and ends alternate; the spans are disjoint and in order. */
  readonly #spans: number[] = [];

  get ms(): number {
    let sum = 0;
    for (let at = 0; at < this.#spans.length; at += 2) {
      sum += (this.#spans[at + 1] as number) - (this.#spans[at] as number);
    }
    return sum;
  }

  add(startMs: number, endMs: number): void {
    const spans = this.#spans;
    let from = startMs;
    while (spans.length > 0 && (spans.at(-1) as number) >= from) {
      spans.pop();
      from = Math.min(from, spans.pop() as number);
    }
    spans.push(from, endMs);
  }
}
