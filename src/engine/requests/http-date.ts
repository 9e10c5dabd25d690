const SECOND_MS = 1_000;

/** The header `Date`. Its text changes once a second. */
export class HttpDate {
  readonly #dateMs: () => number;
  #second = Number.NaN;
  #text = '';

  constructor(dateMs: () => number) {
    this.#dateMs = dateMs;
  }

  get text(): string {
    const second = Math.floor(this.#dateMs() / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * SECOND_MS).toUTCString();
    }
    return this.#text;
  }
}
