/** The fields that no row of a list had so far. */
export class SeenRows {
  readonly #names: readonly string[];
  #absent: readonly string[] | null = null;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  add(row: Readonly<Record<string, unknown>>): void {
    // Most often the first row has them all.
    if (this.#absent?.length === 0) return;
    this.#absent = (this.#absent ?? this.#names).filter((name) => row[name] === undefined);
  }

  /** Null where there was no row. */
  get absent(): readonly string[] | null {
    return this.#absent;
  }
}
