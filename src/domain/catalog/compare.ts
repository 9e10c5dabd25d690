import type { Instrument } from '../../gateway/model.ts';

/**
 * Compares by code units: the order is total and the same in every locale, so that a cursor means the
 * same position on every replica.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The order in which a version stores its instruments. */
export function compareInstruments(a: Instrument, b: Instrument): number {
  return compareText(a.symbol, b.symbol) || compareText(a.id, b.id);
}
