import { growingLru } from '../../../lib/growing-lru.ts';
import { recordId } from '../../store/order-records.ts';

const NUMBERS = { maxEntries: 20_000, entryBytes: 200 };

/**
 * Remembers the order numbers that the gateway has told this process lately: one that an account is told twice is another order's,
 * by whatever stands between, and says nothing of the second.
 */
export class OrderNumbers {
  readonly #told = growingLru<string, true>(NUMBERS);

  isNew(login: string, number: string): boolean {
    const id = recordId(login, number);
    const isNew = !this.#told.has(id);
    this.#told.set(id, true);
    return isNew;
  }
}
