import { setImmediate } from 'node:timers/promises';
import { read } from '../define-operation.ts';
import { jsonOf, timesOf } from '../exchange.ts';
import * as f from '../fields.ts';
import { type Reading, readingIn } from '../scalars.ts';

export const HOURS = f.table('TradingHours', {
  timezone: f.required(f.text),
  regular: f.required(f.texts),
  preMarket: f.required(f.texts),
  postMarket: f.required(f.texts),
  overnight: f.required(f.texts),
  otherExtended: f.required(f.texts),
});

const NUMBER = f.required(f.nearest);
export const SWAP = f.table('Swap', { long: NUMBER, short: NUMBER, mode: NUMBER, tick: NUMBER });

/** The only table whose required fields the gateway's interface lists. A row that lacks one is left out of the catalog. */
export const INSTRUMENT = f.table('Instrument', {
  id: f.from('_id', f.required(f.filled)),
  symbol: f.from('_id', f.required(f.filled)),
  name: f.from('friendlyName', f.required(f.text)),
  description: f.from('desc', f.required(f.text)),
  logo: f.required(f.text),
  delayed: f.required(f.flag),
  sharia: f.required(f.flag),
  shariaStatus: f.required(f.word('QUESTIONABLE', 'COMPLIANT', 'NONCOMPLIANT')),
  leverage: NUMBER,
  pdt: f.required(f.flag),
  digits: f.required(f.integer),
  session: f.required(f.texts),
  quotes: f.required(f.texts),
  tradingHours: f.optional(f.object(HOURS)),
  sector: NUMBER,
  industry: NUMBER,
  mode: NUMBER,
  calc: NUMBER,
  swap: f.optional(f.object(SWAP)),
  min: NUMBER,
  max: NUMBER,
  step: NUMBER,
  limit: NUMBER,
  mCurrency: f.required(f.text),
  pCurrency: f.required(f.text),
  mFx: f.optional(f.text),
  pFx: f.optional(f.text),
  access: f.required(f.texts),
});

export type Instrument = f.ValueOf<typeof INSTRUMENT.fields>;
/** An instrument as the gateway sends it, by the table's names. */
export type SentInstrument = f.SentBy<typeof INSTRUMENT.fields>;
export type SentHours = f.SentBy<typeof HOURS.fields>;
export type WireInstrument = f.WireOf<typeof INSTRUMENT.fields>;
export type ShariaStatus = NonNullable<Instrument['shariaStatus']>;
export type TradingHours = NonNullable<Instrument['tradingHours']>;
export type Swap = NonNullable<Instrument['swap']>;
export type CatalogAnswer = Awaited<ReturnType<typeof getAllTickers.run>>;
export type ModifiedCatalog = Extract<CatalogAnswer, { readonly modified: true }>;

/** `etag` belongs to the copy that a 304 can confirm; null requests the whole catalog. */
interface Asked {
  readonly group: string;
  readonly etag: string | null;
}

export const getAllTickers = read({
  name: 'getAllTickers',
  number: 1,
  bounds: 'catalog',
  proves: 'group',
  acceptsCached: true,
  calls: {
    catalog: {
      method: 'GET',
      path: '/trading/tickers/{group}',
      answer: { kind: 'list', of: INSTRUMENT.shape, wrong: 'row' },
    },
  },
  async run(calls, { group, etag }: Asked) {
    const headers = ['accept-encoding', 'gzip'];
    if (etag !== null) headers.push('if-none-match', etag);
    const answer = await calls.send('catalog', { path: { group }, headers });
    const { headers: received } = answer;
    const times = timesOf(answer);
    if (answer.status === 304) return { modified: false as const, headers: received, ...times };
    const rows = jsonOf(answer);
    if (!Array.isArray(rows)) throw calls.broken('no list of instruments');
    const reading = readingIn('auto');
    const catalog = await toInstruments(rows, reading);
    calls.reportAbsent(reading);
    return {
      modified: true as const,
      ...catalog,
      etag: entityTag(received.etag),
      headers: received,
      ...times,
    };
  },
});

/** Null for a tag that is not legal in `If-None-Match`: with an illegal header no catalog could be requested again. */
function entityTag(header: string | undefined): string | null {
  return header !== undefined && /^(?!\*$)[\x21-\x7e]+$/.test(header) ? header : null;
}

// Checking this many rows takes about a millisecond. Then other requests get the event loop.
const ROWS_AT_A_TIME = 200;

/** Leaves out rows that break the interface, and counts them in `skipped`. Of rows with one id, the first counts. */
export async function toInstruments(rows: readonly unknown[], reading: Reading) {
  const byId = new Map<string, Instrument>();
  let skipped = 0;
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_AT_A_TIME === 0) await setImmediate();
    const instrument = INSTRUMENT.read(row, reading);
    if (instrument === null) skipped += 1;
    else if (!byId.has(instrument.id)) byId.set(instrument.id, instrument);
  }
  return { instruments: [...byId.values()], skipped, total: rows.length };
}
