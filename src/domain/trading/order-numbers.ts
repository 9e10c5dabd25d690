import { growingLru } from '../../../lib/growing-lru.ts';
import { recordId } from '../../store/order-records.ts';

const NUMBERS = { maxEntries: 20_000, entryBytes: 200 };

/**
 * Remembers the order numbers that the gateway has named to this process lately. A number that comes twice for an account is that of
 * the first order: something between has repeated an answer, which says nothing of the second order.
 */
export class OrderNumbers {
  readonly #named = growingLru<string, true>(NUMBERS);

  isNew(login: string, number: string): boolean {
    const id = recordId(login, number);
    const isNew = !this.#named.has(id);
    this.#named.set(id, true);
    return isNew;
  }
}
