import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { WireInstrument } from '../gateway/operations/get-all-tickers.ts';
import type { Clock } from '../lib/clock.ts';
import { generateListings } from './generated-listings.ts';
import { findGroup, onTermsOf } from './groups.ts';
import { dress, type Listed } from './instruments.ts';

/** A group's catalog as bytes, made once per edition. */
export interface CatalogEdition {
  readonly etag: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** Changes of the next edition; a property that is left out stays as it is. */
export interface CatalogChange {
  /** The number of rows that get another description. */
  readonly change?: number | undefined;
  readonly add?: number | undefined;
  readonly remove?: number | undefined;
  /** The number of rows that break the interface's table, from now on. */
  readonly broken?: number | undefined;
  /** True: no rows, until set back to false. */
  readonly empty?: boolean | undefined;
}

/** Caching headers from now on; a property that is left out stays as it is. */
export interface CatalogHeaders {
  /** The Age header counts on from there; null omits it. */
  readonly ageSeconds?: number | null | undefined;
  readonly cacheControl?: string | null | undefined;
  readonly etag?: boolean | undefined;
  /** Further headers, or other values for these. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const REPUBLISHED_AFTER_SECONDS = 3_600;
// Rows per turn of the event loop: a catalog of 100,000 must not delay the polls by a second.
const ROWS_AT_ONCE = 2_000;
const zip = promisify(gzip);

export class Catalogs {
  readonly #seed: string;
  readonly #clock: Clock;
  #rows: readonly Listed[];
  #editions = new Map<string, Promise<CatalogEdition>>();
  #publishedAtMs: number;
  #broken = 0;
  #isEmpty = false;
  #changes = 0;
  #cacheControl: string | null = 'public, max-age=3600';
  #saysAge = true;
  #saysEtag = true;
  #republishes = true;
  #extra: Readonly<Record<string, string>> = {};

  constructor(seed: string, listed: readonly Listed[], clock: Clock) {
    this.#seed = seed;
    this.#rows = listed;
    this.#clock = clock;
    this.#publishedAtMs = clock.now();
  }

  edition(group: string): Promise<CatalogEdition> {
    const known = this.#editions.get(group);
    if (known !== undefined) return known;
    const edition = print(group, this.#isEmpty ? [] : this.#rows, this.#broken);
    this.#editions.set(group, edition);
    return edition;
  }

  change(change: CatalogChange): void {
    this.#changes += 1;
    const kept = withdraw(rewrite(this.#rows, change.change ?? 0, this.#changes), change.remove);
    this.#rows = kept.concat(introduce(kept, change.add ?? 0, `${this.#seed}/${this.#changes}`));
    this.#broken = change.broken ?? this.#broken;
    this.#isEmpty = change.empty ?? this.#isEmpty;
    this.#editions = new Map();
    this.#publishedAtMs = this.#clock.now();
    this.#republishes = true;
  }

  /** Caching headers of an answer that is sent now. */
  headers(etag: string): OutgoingHttpHeaders {
    // The gateway republishes it every hour, changed or not.
    const age = Math.max(0, Math.floor((this.#clock.now() - this.#publishedAtMs) / 1000));
    const shownAge = this.#republishes ? age % REPUBLISHED_AFTER_SECONDS : age;
    return {
      ...(this.#cacheControl !== null && { 'cache-control': this.#cacheControl }),
      ...(this.#saysAge && { age: String(shownAge) }),
      ...(this.#saysEtag && { etag }),
      vary: 'Authorization, Accept-Encoding',
      ...this.#extra,
    };
  }

  /** Null or false omits the header. */
  setHeaders({ ageSeconds, cacheControl, etag, headers }: CatalogHeaders): void {
    if (typeof ageSeconds === 'number') {
      this.#publishedAtMs = this.#clock.now() - ageSeconds * 1000;
      // An Age that a test sets may have any value; it does not restart after an hour.
      this.#republishes = false;
    }
    if (ageSeconds !== undefined) this.#saysAge = ageSeconds !== null;
    if (cacheControl !== undefined) this.#cacheControl = cacheControl;
    this.#saysEtag = etag ?? this.#saysEtag;
    this.#extra = headers ?? this.#extra;
  }
}

async function print(
  groupName: string,
  rows: readonly Listed[],
  broken: number,
): Promise<CatalogEdition> {
  const group = findGroup(groupName);
  const members = rows.filter(({ wire }) => wire.access.includes(groupName));
  const chunks: Buffer[] = [Buffer.from('[')];
  for (let from = 0; from < members.length; from += ROWS_AT_ONCE) {
    const texts = members.slice(from, from + ROWS_AT_ONCE).map((member, i) => {
      const row = group ? onTermsOf(group, member.kind, member.wire) : member.wire;
      return JSON.stringify(from + i < broken ? breakRow(row, from + i) : row);
    });
    chunks.push(Buffer.from((from === 0 ? '' : ',') + texts.join(',')));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  chunks.push(Buffer.from(']'));
  const plain = Buffer.concat(chunks);
  const digest = createHash('sha1').update(plain).digest('base64url');
  // A weak ETag, because the compressed representation has the same one.
  return { etag: `W/"${digest}"`, plain, zipped: await zip(plain, { level: 1 }) };
}

function breakRow(row: WireInstrument, i: number): object {
  const { digits: _digits, ...rest } = row;
  return [rest, { ...row, pdt: null }, { ...row, leverage: 'five' }][i % 3] ?? rest;
}

function rewrite(rows: readonly Listed[], count: number, edition: number): Listed[] {
  return rows.map((row, i) => {
    if (i >= count) return row;
    const base = row.wire.desc.replace(/ \(edition \d+\)$/, '');
    return { ...row, wire: { ...row.wire, desc: `${base} (edition ${edition})` } };
  });
}

/** Removes from the end, because clients rely on the first rows. */
function withdraw(rows: readonly Listed[], count = 0): Listed[] {
  return rows.slice(0, Math.max(0, rows.length - count));
}

function introduce(rows: readonly Listed[], count: number, seed: string): Listed[] {
  const taken = new Set(rows.map(({ wire }) => wire._id));
  const access = [...(rows[0]?.wire.access ?? [])];
  return generateListings(seed, count, taken).map((listing) => dress(listing, -1, access));
}
