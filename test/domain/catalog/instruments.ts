import type { Instrument } from '../../../src/gateway/operations/get-all-tickers.ts';
import { toInstruments } from '../../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { instrumentRow } from '../../gateway/wire/rows.ts';

const [PLAIN] = (await toInstruments([instrumentRow], readingIn('auto'))).instruments as [
  Instrument,
];

/** An instrument with every field. `fields` replaces some of them. */
export function instrument(id: string, fields: Partial<Instrument> = {}): Instrument {
  return {
    ...PLAIN,
    id,
    symbol: id,
    name: `Name of ${id}`,
    description: '',
    leverage: 5,
    pdt: false,
    sector: 45,
    industry: 452_020,
    pCurrency: 'USD',
    ...fields,
  };
}
