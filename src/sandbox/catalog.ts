import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { WireInstrument } from '../gateway/operations/get-all-tickers.ts';
import type { Clock } from '../lib/clock.ts';
import { generateListings } from './generated-listings.ts';
import { findGroup, onTermsOf } from './groups.ts';
import { dress, type Listed } from './instruments.ts';

/** A group's catalog as bytes, which are made once after each change. */
interface CatalogEdition {
  readonly etag: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** A change of the catalogs. A property that is left out keeps its value. */
export interface CatalogChange {
  /** The number of rows that get another description. */
  readonly change?: number | undefined;
  readonly add?: number | undefined;
  readonly remove?: number | undefined;
  /** The number of rows with a field that the gateway's documentation does not allow. */
  readonly broken?: number | undefined;
  /** The Age header of all answers; null omits it. By default it is the time since the last publication. */
  readonly ageSeconds?: number | null | undefined;
}

const REPUBLISHED_AFTER_SECONDS = 3_600;
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
    const edition = print(group, this.#rows, this.#broken);
    this.#editions.set(group, edition);
    return edition;
  }

  change({ change = 0, add = 0, remove = 0, broken, ageSeconds }: CatalogChange): void {
    this.#changes += 1;
    const kept = withdraw(rewrite(this.#rows, change, this.#changes), remove);
    this.#rows = kept.concat(introduce(kept, add, `${this.#seed}/${this.#changes}`));
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
function withdraw(rows: readonly Listed[], count: number): Listed[] {
  return rows.slice(0, Math.max(0, rows.length - count));
}

function introduce(rows: readonly Listed[], count: number, seed: string): Listed[] {
  const taken = new Set(rows.map(({ wire }) => wire._id));
  const access = [...(rows[0]?.wire.access ?? [])];
  return generateListings(seed, count, taken).map((listing) => dress(listing, -1, access));
}
