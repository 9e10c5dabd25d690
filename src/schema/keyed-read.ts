import DataLoader from 'dataloader';
import type { MaybePromise } from '../lib/maybe-promise.ts';

export type ById<T> = ReadonlyMap<string, T>;

/**
 * Loads objects by id; null for an unknown id. Any number of ids cost one read of the whole list. While the read is under
 * way, a DataLoader batches the ids. Afterwards each look-up is synchronous, because a promise per row would cost more.
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
