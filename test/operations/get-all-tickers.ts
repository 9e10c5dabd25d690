import { HOURS, toInstruments } from '../../src/gateway/operations/get-all-tickers.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { instrumentValues, instrumentWith } from '../gateway/wire/rows.ts';
import { READ, type ReadCase } from './operation-case.ts';

const tradingHours = HOURS.toWire({
  ...instrumentValues.tradingHours,
  overnight: ['20:00-04:00'],
});

export const getAllTickers: ReadCase = {
  ...READ,
  call: (client, caller) =>
    client.read(caller, OPERATIONS.getAllTickers, { group: 'standard-usd', etag: null }),
  ask: (gateway, viewer) => gateway.getAllTickers(viewer, 'standard', null),
  field: 'catalog',
  document: '{ catalog { size } }',
  proves: 'group',
  answer: [instrumentWith({ tradingHours })],
  async read(body) {
    const { instruments } = await toInstruments(body as unknown[], readingIn('auto'));
    return instruments.length === 0 ? null : instruments;
  },
};
