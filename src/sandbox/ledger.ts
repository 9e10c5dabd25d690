/** An order that the sandbox applied; here a test sees whether one was sent twice. */
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

export interface Ledger {
  record(entry: Omit<LedgerEntry, 'sequence'>): void;
  entries(): readonly LedgerEntry[];
}

// A load test that runs for hours must not fill the memory; the newest are kept.
const KEPT = 100_000;

export function createLedger(): Ledger {
  const entries: LedgerEntry[] = [];
  let sequence = 0;
  return {
    record(entry) {
      sequence += 1;
      entries.push({ sequence, ...entry });
      if (entries.length > KEPT * 2) entries.splice(0, KEPT);
    },
    entries: () => entries.slice(),
  };
}
