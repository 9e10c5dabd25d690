import DataLoader from 'dataloader';
import type { MaybePromise } from '../lib/maybe-promise.ts';

export type ById<T> = ReadonlyMap<string, T>;

/**
 * Loads things by their ids, any number of which cost one read of them all; null for an id of none. A DataLoader batches what is
 * asked for until that read is answered. What is in memory is there at once: a promise for each row of a list would cost more
 * than the look-up.
 */
export class KeyedRead<T> {
  readonly #read: () => MaybePromise<ById<T>>;
  #all: ById<T> | undefined;
  #loader: DataLoader<string, T | null> | undefined;

  constructor(read: () => MaybePromise<ById<T>>) {
    this.#read = read;
  }

  load(id: string): MaybePromise<T | null> {
    if (this.#all === undefined && this.#loader === undefined) this.#begin();
    if (this.#all !== undefined) return this.#all.get(id) ?? null;
    return (this.#loader as DataLoader<string, T | null>).load(id);
  }

  #begin(): void {
    const reading = this.#read();
    if (!(reading instanceof Promise)) {
      this.#all = reading;
      return;
    }
    this.#loader = new DataLoader(async (ids) => {
      this.#all = await reading;
      return ids.map((id) => this.#all?.get(id) ?? null);
    });
  }
}
