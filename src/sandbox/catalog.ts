import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { INSTRUMENT, type SentInstrument } from '../gateway/operations/get-all-tickers.ts';
import type { Clock } from '../lib/clock.ts';
import { findGroup, withTermsOf } from './groups.ts';
import { type Listed, toListed } from './instruments.ts';
import { generateListings } from './listings.ts';

/** A group's catalog as bytes, which are made once after each change. */
interface CatalogEdition {
  readonly etag: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** A change of the catalogs. */
export interface CatalogChange {
  /** The number of rows that get another description; 0 by default. */
  readonly change?: number | undefined;
  /** The number of rows to add; 0 by default. */
  readonly add?: number | undefined;
  /** The number of rows to remove; 0 by default. */
  readonly remove?: number | undefined;
  /** The number of rows with a field that the gateway's documentation does not allow; by default as before. */
  readonly broken?: number | undefined;
  /** The Age header of all later answers; null omits it. By default as before, and at first the time since publication. */
  readonly ageSeconds?: number | null | undefined;
}

const REPUBLISHED_AFTER_SECONDS = 3_600;
/** The index of an instrument that was added later. It has no price, because no account holds it. */
const NOT_PRICED = -1;
// A catalog of 100,000 rows is printed in several turns of the event loop, because polls must not wait for all of it.
const ROWS_AT_ONCE = 2_000;
const zip = promisify(gzip);

export class Catalogs {
  readonly #seed: string;
  readonly #clock: Clock;
  readonly #publishedAtMs: number;
  readonly #editions = new Map<string, Promise<CatalogEdition>>();
  #rows: readonly Listed[];
  #broken = 0;
  #changes = 0;
  #ageSeconds: number | null | undefined;

  constructor(seed: string, listed: readonly Listed[], clock: Clock) {
    this.#seed = seed;
    this.#rows = listed;
    this.#clock = clock;
    this.#publishedAtMs = clock.now();
  }

  edition(group: string): Promise<CatalogEdition> {
    const known = this.#editions.get(group);
    if (known !== undefined) return known;
    const edition = printEdition(group, this.#rows, this.#broken);
    this.#editions.set(group, edition);
    return edition;
  }

  change({ change = 0, add = 0, remove = 0, broken, ageSeconds }: CatalogChange): void {
    this.#changes += 1;
    const changed = redescribe(this.#rows, change, this.#changes);
    const kept = withoutLast(changed, remove);
    this.#rows = kept.concat(newRows(kept, add, `${this.#seed}/${this.#changes}`));
    this.#broken = broken ?? this.#broken;
    if (ageSeconds !== undefined) this.#ageSeconds = ageSeconds;
    this.#editions.clear();
  }

  /** Caching headers of an answer that is sent now. */
  headers(etag: string): OutgoingHttpHeaders {
    const age = this.#ageSeconds === undefined ? this.#publishedSeconds() : this.#ageSeconds;
    return {
      ...(age !== null && { age: String(age) }),
      etag,
      vary: 'Authorization, Accept-Encoding',
    };
  }

  /** The gateway publishes the catalog every hour, changed or not. */
  #publishedSeconds(): number {
    const seconds = Math.floor((this.#clock.now() - this.#publishedAtMs) / 1000);
    return Math.max(0, seconds) % REPUBLISHED_AFTER_SECONDS;
  }
}

async function printEdition(
  groupName: string,
  rows: readonly Listed[],
  broken: number,
): Promise<CatalogEdition> {
  const group = findGroup(groupName);
  const members = rows.filter(({ instrument }) => instrument.access.includes(groupName));
  const chunks: Buffer[] = [Buffer.from('[')];
  for (let from = 0; from < members.length; from += ROWS_AT_ONCE) {
    const texts = members.slice(from, from + ROWS_AT_ONCE).map((member, offset) => {
      const index = from + offset;
      const row = group ? withTermsOf(group, member.kind, member.instrument) : member.instrument;
      return JSON.stringify(INSTRUMENT.toWire(index < broken ? breakRow(row, index) : row));
    });
    const separator = from === 0 ? '' : ',';
    chunks.push(Buffer.from(separator + texts.join(',')));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  chunks.push(Buffer.from(']'));
  const plain = Buffer.concat(chunks);
  const digest = createHash('sha1').update(plain).digest('base64url');
  // A weak ETag, because the plain and the compressed bytes share it.
  return { etag: `W/"${digest}"`, plain, zipped: await zip(plain, { level: 1 }) };
}

/** Breaks rows in three ways, in turn: a field is missing, is null, or has another type. */
function breakRow(row: SentInstrument, index: number): SentInstrument {
  const breaks = [{ digits: undefined }, { pdt: null }, { leverage: 'five' }];
  return Object.assign({ ...row }, breaks[index % breaks.length]);
}

function redescribe(rows: readonly Listed[], count: number, edition: number): Listed[] {
  return rows.map((row, index) => {
    if (index >= count) return row;
    const base = row.instrument.description.replace(/ \(edition \d+\)$/, '');
    const description = `${base} (edition ${edition})`;
    return { ...row, instrument: { ...row.instrument, description } };
  });
}

/** Removes from the end, because clients rely on the first rows. */
function withoutLast(rows: readonly Listed[], count: number): Listed[] {
  return rows.slice(0, Math.max(0, rows.length - count));
}

/** Makes rows to add, for the groups that have the first row. */
function newRows(rows: readonly Listed[], count: number, seed: string): Listed[] {
  const taken = new Set(rows.map(({ instrument }) => instrument.symbol));
  const access = [...(rows[0]?.instrument.access ?? [])];
  const listings = generateListings(seed, count, taken);
  return listings.map((listing) => toListed(listing, NOT_PRICED, access));
}
