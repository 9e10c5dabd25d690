import { ageSeconds, lifeMsOf } from '../../domain/catalog/freshness.ts';
import type { ModifiedCatalog } from '../../gateway/operations/get-all-tickers.ts';
import { OPERATIONS } from '../../gateway/operations.ts';
import type { CheckRun } from './check-run.ts';
import type { Account } from './sign-in.ts';

const OPERATION = 'getAllTickers';
const ABOUT = { operation: OPERATION } as const;

/** Reads the catalog, and requests it again with its ETag. Returns whether the catalog was answered. */
export async function checkCatalog(
  run: CheckRun,
  { token, read }: Account,
  group: string | null,
  symbols: readonly string[],
): Promise<boolean> {
  const setting = { ...ABOUT, setting: 'GATEWAY_GROUP_CLAIM' } as const;
  if (group === null) {
    const names = read.claims.filter(({ type }) => type === 'string').map(({ name }) => name);
    const text = `Neither op 10 nor the token names the group, so the catalog cannot be requested. Claims that are strings: ${names.join(', ')}.`;
    run.addFinding('problem', text, setting);
    return false;
  }
  const { getAllTickers } = OPERATIONS;
  const called = await run.read(getAllTickers, 'read', token, { group, etag: null });
  const catalog = run.resultOf(OPERATION, called);
  if (!catalog?.modified) return false;
  judgeHeaders(run, catalog);
  judgeRows(run, catalog, symbols);
  const { etag } = catalog;
  if (etag !== null) {
    const again = await run.read(getAllTickers, 'with If-None-Match', token, { group, etag });
    if (again.status === 200) {
      const text =
        'There is an ETag, but If-None-Match is not answered with 304: each refresh loads the whole catalog.';
      run.addFinding('warning', text, ABOUT);
    }
  }
  return true;
}

function judgeHeaders(run: CheckRun, { headers, etag }: ModifiedCatalog): void {
  const age = ageSeconds(headers.age);
  const limit = lifeMsOf(run.config.catalogMaxAgeSeconds * 1000, headers) / 1000;
  if (age !== null && age >= limit) {
    const text = `The catalog is ${age} s old when it arrives, and may be ${limit} s old: it is always marked stale. Is there a cache in front of the gateway?`;
    run.addFinding('problem', text, { ...ABOUT, setting: 'CATALOG_MAX_AGE_SECONDS' });
  }
  if (headers.age === undefined) {
    const text =
      'There is no Age: the catalog may be up to an hour older than `catalog.ageSeconds` says.';
    run.addFinding('note', text, ABOUT);
  }
  if (etag === null) {
    run.addFinding('note', 'There is no ETag: each refresh loads the whole catalog.', ABOUT);
  }
}

function judgeRows(
  run: CheckRun,
  { instruments, skipped, total }: ModifiedCatalog,
  symbols: readonly string[],
): void {
  if (total === 0) {
    const text = 'The catalog is empty: it is served for a minute, and only if there is no other.';
    run.addFinding('problem', text, ABOUT);
  } else if (skipped > 0) {
    const text = `${skipped} of ${total} instruments are outside the interface, and are left out of the catalog.`;
    run.addFinding('problem', text, ABOUT);
  }
  const ids = new Set(instruments.map(({ id }) => id));
  const unknown = symbols.filter((symbol) => !ids.has(symbol)).length;
  if (unknown > 0) {
    const text = `${unknown} of ${symbols.length} symbols of positions and orders are not the _id of an instrument: their \`instrument\` will be null.`;
    run.addFinding('warning', text, ABOUT);
  }
}
