/** An order that the sandbox applied. By these entries a test sees whether an order was sent twice. */
export interface LedgerEntry {
  readonly sequence: number;
  readonly atMs: number;
  readonly login: number;
  readonly operation: 'openPosition' | 'placeLimitOrder';
  readonly became: 'position' | 'pending';
  readonly orderId: string;
  readonly symbol: string;
  readonly isBuy: boolean;
  readonly units: number;
  readonly price: number;
  readonly comment: string;
}

// A load test that runs for hours must not fill the memory; the newest are kept.
const KEPT = 100_000;

export class Ledger {
  readonly #entries: LedgerEntry[] = [];
  #sequence = 0;

  record(entry: Omit<LedgerEntry, 'sequence'>): void {
    this.#sequence += 1;
    this.#entries.push({ sequence: this.#sequence, ...entry });
    if (this.#entries.length > KEPT * 2) this.#entries.splice(0, KEPT);
  }

  entries(): readonly LedgerEntry[] {
    return this.#entries.slice();
  }
}
