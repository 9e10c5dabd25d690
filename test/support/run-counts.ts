/** The number of resolver calls, by the name of the field. */
export class RunCounts {
  readonly #runs = new Map<string, number>();

  of(name: string): number {
    return this.#runs.get(name) ?? 0;
  }

  counted<Args extends readonly unknown[]>(
    name: string,
    read: (...args: Args) => unknown,
  ): (...args: Args) => unknown {
    return (...args) => {
      this.#runs.set(name, this.of(name) + 1);
      return read(...args);
    };
  }
}
