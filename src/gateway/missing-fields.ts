import type { Reading } from './wire/scalars.ts';

/**
 * The fields that the last answer of each operation lacked in all of its rows. An empty list changes nothing, so that an account
 * without positions hides no loss.
 */
export class MissingFields {
  readonly #byOperation = new Map<string, Map<string, readonly string[]>>();

  saw(operation: string, { lists }: Reading): void {
    let missing = this.#byOperation.get(operation);
    if (missing === undefined) {
      missing = new Map();
      this.#byOperation.set(operation, missing);
    }
    for (const [path, { absent }] of lists) if (absent !== null) missing.set(path, absent);
  }

  *series(): Iterable<readonly [value: number, operation: string, field: string]> {
    for (const [operation, missing] of this.#byOperation) {
      for (const [path, names] of missing) {
        for (const name of names) yield [1, operation, path + name];
      }
    }
  }
}
