import type { Reading } from './wire/scalars.ts';
import type { SeenRows } from './wire/seen-rows.ts';

/**
 * The fields that the last answer of each operation lacked in all of its rows. An empty list changes nothing, so that an account
 * without positions hides no loss.
 */
export class MissingFields {
  readonly #byOperation = new Map<string, Map<string, SeenRows>>();

  saw(operation: string, { rows }: Reading): void {
    let last = this.#byOperation.get(operation);
    if (last === undefined) {
      last = new Map();
      this.#byOperation.set(operation, last);
    }
    for (const [key, seen] of rows) if (seen.absent !== null) last.set(key, seen);
  }

  *series(): Iterable<readonly [value: number, operation: string, field: string]> {
    for (const [operation, last] of this.#byOperation) {
      for (const { path, absent } of last.values()) {
        for (const name of absent ?? []) yield [1, operation, path + name];
      }
    }
  }
}
