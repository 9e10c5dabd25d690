import type { CatalogAnswer, ModifiedCatalog } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Log } from '../../lib/log.ts';
import { buildVersion } from './build-version.ts';
import { type CatalogCopy, type CopyTimes, timesOf } from './catalog-copy.ts';
import type { CatalogVersion } from './catalog-version.ts';
import { freshnessOf } from './freshness.ts';
import type { GroupCatalog } from './group-catalog.ts';
import type { VersionArchive } from './version-archive.ts';

export interface ReceiveOptions {
  readonly maxAgeMs: number;
  readonly staleMs: number;
  readonly archive: VersionArchive | null;
  readonly log: Pick<Log, 'warn'>;
}

export interface ReceivedAnswer {
  readonly answer: CatalogAnswer;
  readonly receivedAtMs: number;
  /** The copy whose ETag was sent, which a 304 confirms. */
  readonly revalidated: CatalogCopy | null;
  readonly isRefresh: boolean;
}

/** Stores op 1's answer as the group's copy. Throws where it must not replace the present one. */
export async function receiveCopy(
  catalog: GroupCatalog,
  received: ReceivedAnswer,
  options: ReceiveOptions,
): Promise<void> {
  const { answer, receivedAtMs, revalidated } = received;
  if (!answer.modified) {
    if (!revalidated) throw contractError('a 304 to a request without If-None-Match');
    catalog.hold({ ...revalidated, ...agesOf(received, false, options) });
    return;
  }
  const isProvisional = isBad(answer);
  if (answer.skipped > 0) {
    const { skipped, total } = answer;
    options.log.warn({ group: catalog.group, skipped, total }, 'instruments were left out');
  }
  const before = catalog.copy;
  // A provisional copy is itself replaced once its time is up.
  if (isProvisional && before && receivedAtMs < before.servesUntilMs) {
    throw contractError('a catalog that is empty or mostly broken');
  }
  const version = await follow(catalog, answer, options.archive);
  // Searches use the present version until the new one is indexed.
  if (before && catalog.servesAt(receivedAtMs)) await version.index;
  else void version.index;
  const { skipped, etag } = answer;
  catalog.hold({
    version,
    skipped,
    // Without an ETag a 304 cannot prolong a provisional copy.
    etag: isProvisional ? null : etag,
    ...agesOf(received, isProvisional, options),
  });
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}

/** Builds the version after the present one and adds the difference to the history. */
async function follow(
  catalog: GroupCatalog,
  answer: ModifiedCatalog,
  archive: VersionArchive | null,
): Promise<CatalogVersion> {
  const previous = catalog.copy?.version ?? null;
  const { version, before } = await buildVersion(answer.instruments, previous);
  if (version === previous) return version;
  if (previous) catalog.history.add(previous, version, before);
  void archive?.remember(catalog.group, version);
  return version;
}

type Ages = CopyTimes & Pick<CatalogCopy, 'receivedAtMs' | 'initialAgeMs'>;

function agesOf(
  { answer, receivedAtMs, isRefresh }: ReceivedAnswer,
  isProvisional: boolean,
  { maxAgeMs, staleMs }: ReceiveOptions,
): Ages {
  const delayMs = answer.receivedAtMs - answer.sentAtMs;
  const freshness = freshnessOf(answer.headers, receivedAtMs, delayMs, maxAgeMs);
  const times = timesOf(freshness, { receivedAtMs, staleMs, isProvisional, isRefresh });
  return { ...times, receivedAtMs, initialAgeMs: freshness.ageMs };
}

function contractError(message: string): GatewayError {
  return new GatewayError('contract', 'getAllTickers', message);
}
