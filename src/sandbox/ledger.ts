/** An order that the sandbox applied. From these entries a test sees whether an order was sent twice. */
export interface LedgerEntry {
  readonly login: number;
  readonly orderId: string;
  readonly symbol: string;
  readonly comment: string;
}

// At least this many of the newest entries are kept. A load test that runs for hours must not fill the memory.
const MIN_KEPT = 100_000;

export class Ledger {
  readonly #entries: LedgerEntry[] = [];

  record(entry: LedgerEntry): void {
    this.#entries.push(entry);
    // Entries are dropped many at a time, because each removal moves all the others.
    if (this.#entries.length > MIN_KEPT * 2) this.#entries.splice(0, MIN_KEPT);
  }

  entries(): readonly LedgerEntry[] {
    return this.#entries.slice();
  }
}
