import { ageSeconds, agesOf, lifeMsOf } from '../../domain/catalog/cache/freshness.ts';
import type { Answer } from '../../gateway/exchange.ts';
import { toInstruments } from '../../gateway/operations/get-all-tickers.ts';
import { CATALOG_SIZE_FACTOR } from '../../gateway/request-templates.ts';
import { isRow } from '../../gateway/wire/scalars.ts';
import { type CheckRun, NEAR_LIMIT } from './check-run.ts';
import type { Group } from './claims.ts';
import type { Finding } from './finding.ts';
import type { Account } from './sign-in.ts';

const OPERATION = 'getAllTickers';
const ABOUT = { operation: OPERATION } as const;
const HEADERS = ['age', 'date', 'etag', 'cache-control'] as const;

/** The headers of the catalog that decide how old it is, by which are there. */
export type CatalogHeaders = Readonly<Record<(typeof HEADERS)[number], boolean>>;

/** Reads the catalog, and asks for it again by its ETag; null where it was not answered. */
export async function checkCatalog(
  run: CheckRun,
  { token, read }: Account,
  group: Group | null,
  symbols: ReadonlySet<string>,
): Promise<CatalogHeaders | null> {
  const setting = { ...ABOUT, setting: 'GATEWAY_GROUP_CLAIM' } as const;
  if (group === null) {
    const text = 'Neither op 10 nor the token names the group, so no catalog can be asked for.';
    run.find('problem', text, setting);
    return null;
  }
  const path = { group: group.name };
  const headers = ['accept-encoding', 'gzip'];
  const called = await run.call(OPERATION, 'read', { token, path, headers });
  if (called.status === 403 && !group.isConfirmed) {
    const names = read.claims.filter(({ type }) => type === 'string').map(({ name }) => name);
    const text = `Op 1 refuses the group that the token names, and op 10 names none. Claims that are strings: ${names.join(', ')}.`;
    run.find('problem', text, setting);
    return null;
  }
  const answer = run.answerOf(OPERATION, called);
  if (answer === null) return null;
  run.findings.push(...headerFindings(answer));
  judgeAge(run, answer);
  judgeWait(run);
  if (Array.isArray(called.json)) await judgeRows(run, called.json, symbols);
  if (answer.bytes.length > run.config.gatewayMaxBytes * CATALOG_SIZE_FACTOR * NEAR_LIMIT) {
    const text = 'The catalog has more than half of the bytes that are accepted.';
    run.find('warning', text, { ...ABOUT, setting: 'GATEWAY_MAX_BYTES' });
  }
  const { etag } = answer.headers;
  if (etag !== undefined) {
    const conditional = [...headers, 'if-none-match', etag];
    const again = { token, path, headers: conditional };
    const { status } = await run.call(OPERATION, 'revalidate', again);
    if (status === 200) {
      const text =
        'There is an ETag, but If-None-Match is not answered with 304: each refresh loads the whole catalog.';
      run.find('warning', text, ABOUT);
    }
  }
  return catalogHeaders(answer);
}

function judgeAge(run: CheckRun, { headers }: Answer): void {
  const limit = lifeMsOf(agesOf(run.config).maxAgeMs, headers) / 1000;
  const age = ageSeconds(headers.age) ?? 0;
  if (age < limit) return;
  const text = `The catalog is ${age} s old when it comes, and counts for ${limit}: it is marked stale for ever. Is there a cache in front of the gateway that keeps it?`;
  run.find('problem', text, { ...ABOUT, setting: 'CATALOG_MAX_AGE_SECONDS' });
}

// A screen that takes longer is one that users leave.
const MAX_WAIT_MS = 2_000;

function judgeWait(run: CheckRun): void {
  const { ms = 0 } = run.calls.findLast(({ operation }) => operation === OPERATION) ?? {};
  if (ms <= MAX_WAIT_MS) return;
  const text = `The catalog takes ${Math.round(ms / 1_000)} s, for which the first screen of a group waits after each start.`;
  run.find('warning', text, ABOUT);
}

async function judgeRows(
  run: CheckRun,
  rows: readonly unknown[],
  symbols: ReadonlySet<string>,
): Promise<void> {
  const { instruments, skipped, total } = await toInstruments(rows);
  if (total === 0) {
    const text =
      'The catalog is empty: such a one is served for want of a better, and only for a minute.';
    run.find('problem', text, ABOUT);
  } else if (skipped > 0) {
    const text = `${skipped} of ${total} instruments are outside the interface, or there twice, and are left out of the catalog.`;
    run.find('problem', text, ABOUT);
  }
  const ids = new Set(instruments.map(({ id }) => id));
  const strange = [...symbols].filter((symbol) => !ids.has(symbol)).length;
  if (strange > 0) {
    const text = `${strange} of ${symbols.size} symbols of positions and orders are the _id of no instrument: their \`instrument\` will be null.`;
    run.find('warning', text, ABOUT);
  }
}

/** The symbols of the positions and orders in an answer. */
export function symbolsIn(json: unknown): string[] {
  if (!isRow(json)) return [];
  const rows = [json.positions, json.orders].flatMap((list) => (Array.isArray(list) ? list : []));
  return rows.flatMap((row) => (isRow(row) && typeof row.symbol === 'string' ? [row.symbol] : []));
}

function catalogHeaders({ headers }: Answer): CatalogHeaders {
  const there = HEADERS.map((name) => [name, headers[name] !== undefined]);
  return Object.fromEntries(there) as CatalogHeaders;
}

function headerFindings({ headers }: Answer): Finding[] {
  const findings: Finding[] = [];
  const note = (level: Finding['level'], text: string) => findings.push({ level, text, ...ABOUT });
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
  return findings;
}
