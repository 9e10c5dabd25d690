import { setImmediate } from 'node:timers/promises';
import type { Instrument } from '../model.ts';
import { toInstrument } from './instrument.ts';

export interface CheckedInstruments {
  readonly instruments: readonly Instrument[];
  readonly skipped: number;
  /** Values of enums that are not known here, and null. */
  readonly unknownValues: number;
  readonly total: number;
}

// About a millisecond of parsing and checking, then a yield to the event loop for other requests.
const ROWS_AT_A_TIME = 200;

/** One row that breaks the interface must not cost the catalog; of rows with one id the first counts. */
export async function toInstruments(rows: Iterable<unknown>): Promise<CheckedInstruments> {
  const byId = new Map<string, Instrument>();
  let total = 0;
  for (const row of rows) {
    const instrument = toInstrument(row);
    if (instrument !== null && !byId.has(instrument.id)) byId.set(instrument.id, instrument);
    total += 1;
    if (total % ROWS_AT_A_TIME === 0) await setImmediate();
  }
  const instruments = [...byId.values()];
  const unknownValues = instruments.filter(({ shariaStatus }) => shariaStatus === null).length;
  return { instruments, skipped: total - byId.size, unknownValues, total };
}
