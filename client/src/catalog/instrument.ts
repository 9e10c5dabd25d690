import type { Instrument } from '../generated/rows.ts';

export type InstrumentField = keyof Instrument;

/** The fields that each copy has, because it is sorted and searched by them. */
export type KeyField = 'id' | 'symbol' | 'name' | 'description';
export type KeyFields = Pick<Instrument, KeyField>;

export const KEY_FIELDS: readonly KeyField[] = ['id', 'symbol', 'name', 'description'];
