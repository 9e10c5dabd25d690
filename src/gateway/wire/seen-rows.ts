/** The fields that no row of a list has had so far, or that an object lacks. */
export class SeenRows {
  /** The prefix of its field names for operators. */
  readonly path: string;
  readonly #names: readonly string[];
  #absent: readonly string[] | null = null;

  constructor(path: string, names: readonly string[]) {
    this.path = path;
    this.#names = names;
  }

  add(row: Readonly<Record<string, unknown>>): void {
    // Usually the first row has all fields.
    if (this.#absent?.length === 0) return;
    this.#absent = (this.#absent ?? this.#names).filter((name) => row[name] === undefined);
  }

  /** Null if there was no row. */
  get absent(): readonly string[] | null {
    return this.#absent;
  }
}
