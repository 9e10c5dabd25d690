import type { Instrument } from '../generated/rows.ts';

/** The name of a field that a copy of the catalog may keep. */
export type InstrumentField = keyof Instrument;

/** The fields that each copy has, because it is sorted and searched by them. Descriptions would be most of what a slow line has to carry. */
export type KeyField = 'id' | 'symbol' | 'name';
export type KeyFields = Pick<Instrument, KeyField> & Partial<Pick<Instrument, 'description'>>;

export const KEY_FIELDS: readonly KeyField[] = ['id', 'symbol', 'name'];
