/** An instrument of the catalog, with all its fields that are no objects themselves. The schema describes each. */
export interface Instrument {
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly description: string;
  readonly access: readonly string[];
  readonly calc: number;
  readonly delayed: boolean;
  readonly digits: number;
  readonly industry: number;
  readonly leverage: number;
  readonly limit: number;
  readonly logo: string;
  readonly mCurrency: string;
  readonly mFx: string | null;
  readonly max: number;
  readonly min: number;
  readonly mode: number;
  readonly pCurrency: string;
  readonly pFx: string | null;
  readonly pdt: boolean;
  readonly quotes: readonly string[];
  readonly sector: number;
  readonly session: readonly string[];
  readonly sharia: boolean;
  readonly shariaStatus: string | null;
  readonly step: number;
}

export type InstrumentField = keyof Instrument;

/** The fields that each copy has, because it is sorted and searched by them. */
export type KeyField = 'id' | 'symbol' | 'name' | 'description';
export type KeyFields = Pick<Instrument, KeyField>;

export const KEY_FIELDS: readonly KeyField[] = ['id', 'symbol', 'name', 'description'];

export const INSTRUMENT_FIELDS: readonly InstrumentField[] = [
  ...KEY_FIELDS,
  'access',
  'calc',
  'delayed',
  'digits',
  'industry',
  'leverage',
  'limit',
  'logo',
  'mCurrency',
  'mFx',
  'max',
  'min',
  'mode',
  'pCurrency',
  'pFx',
  'pdt',
  'quotes',
  'sector',
  'session',
  'sharia',
  'shariaStatus',
  'step',
];
