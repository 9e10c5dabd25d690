import type { Instrument } from '../../../src/gateway/model.ts';

const HOURS = { regular: ['09:30-16:00'], preMarket: [], postMarket: [], overnight: [] };

/** An instrument with every field; a test overrides the ones it is about. */
export function instrument(id: string, own: Partial<Instrument> = {}): Instrument {
  return {
    id,
    symbol: id,
    name: `Name of ${id}`,
    description: '',
    logo: `https://logos.example.com/${id}.svg`,
    delayed: false,
    sharia: true,
    shariaStatus: 'COMPLIANT',
    leverage: 5,
    pdt: false,
    digits: 2,
    session: ['Mon 09:30-16:00'],
    quotes: ['Mon 09:30-16:00'],
    tradingHours: { timezone: 'UTC', ...HOURS, otherExtended: [] },
    sector: 45,
    industry: 452020,
    mode: 4,
    calc: 0,
    swap: { long: -3, short: -1, mode: 5, tick: 3 },
    min: 1,
    max: 100,
    step: 1,
    limit: 0,
    mCurrency: 'USD',
    pCurrency: 'USD',
    mFx: null,
    pFx: null,
    access: ['standard-usd'],
    ...own,
  };
}
