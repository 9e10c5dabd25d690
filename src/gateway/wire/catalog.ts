import { setImmediate } from 'node:timers/promises';
import type { Instrument } from '../model.ts';
import { toInstrument } from './instrument.ts';

export interface CheckedInstruments {
  readonly instruments: readonly Instrument[];
  readonly skipped: number;
  readonly total: number;
}

// A few milliseconds of checking, then a yield to the event loop for other requests.
const ROWS_AT_A_TIME = 1_000;

/** One row that breaks the interface must not cost the catalog; of rows with one id the first counts. */
export async function toInstruments(rows: readonly unknown[]): Promise<CheckedInstruments> {
  const byId = new Map<string, Instrument>();
  for (let start = 0; start < rows.length; start += ROWS_AT_A_TIME) {
    if (start > 0) await setImmediate();
    for (const row of rows.slice(start, start + ROWS_AT_A_TIME)) {
      const instrument = toInstrument(row);
      if (instrument !== null && !byId.has(instrument.id)) byId.set(instrument.id, instrument);
    }
  }
  return {
    instruments: [...byId.values()],
    skipped: rows.length - byId.size,
    total: rows.length,
  };
}
