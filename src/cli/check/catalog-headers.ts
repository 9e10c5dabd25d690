import { ageSeconds } from '../../domain/catalog/cache/freshness.ts';
import type { Answer } from '../../gateway/exchange.ts';
import type { Finding } from './finding.ts';

const HEADERS = ['age', 'date', 'etag', 'cache-control'] as const;

/** The headers of the catalog that decide how old it is, by which are there. */
export type CatalogHeaders = Readonly<Record<(typeof HEADERS)[number], boolean>>;

const OPERATION = 'getAllTickers' as const;
// The leeway of a token's expiry: beyond it a clock that is wrong locks users out.
const CLOCK_LEEWAY_MS = 30_000;

export function catalogHeaders({ headers }: Answer): CatalogHeaders {
  const there = HEADERS.map((name) => [name, headers[name] !== undefined]);
  return Object.fromEntries(there) as CatalogHeaders;
}

export function headerFindings({ headers }: Answer, nowMs: number): Finding[] {
  const findings: Finding[] = [];
  const note = (level: Finding['level'], text: string) =>
    findings.push({ level, text, operation: OPERATION });
  if (headers.age === undefined) {
    note(
      'note',
      'There is no Age: the catalog may be up to an hour older than `catalog.ageSeconds` says.',
    );
  } else if (ageSeconds(headers.age) === null) {
    note('warning', 'Age is no whole number of seconds, and does not count.');
  }
  if (headers.etag === undefined) {
    note('note', 'There is no ETag: each refresh loads the whole catalog.');
  }
  const date = Date.parse(headers.date ?? '');
  // A cached answer keeps the date at which it was made.
  if (headers.age === undefined && date - nowMs > CLOCK_LEEWAY_MS) {
    note(
      'warning',
      "The gateway's clock is ahead of this machine's by more than 30 s: is this machine's right?",
    );
  }
  return findings;
}
