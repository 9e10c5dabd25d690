import type { Instrument } from '../../gateway/model.ts';

/**
 * By code units: the same order in each process whatever its locale, and total, so that a cursor
 * means the same place on every replica.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order in which a version holds its instruments. */
export function compareInstruments(a: Instrument, b: Instrument): number {
  return compareText(a.symbol, b.symbol) || compareText(a.id, b.id);
}
