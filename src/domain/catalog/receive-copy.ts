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
  readonly arrivedMs: number;
  /** What a 304 speaks of: the copy whose ETag was sent. */
  readonly asked: CatalogCopy | null;
  readonly isRefresh: boolean;
}

/** LogicalClock what op 1 answered into the group's copy at hand. Throws where it must not replace the one there is. */
export async function receiveCopy(
  catalog: GroupCatalog,
  received: ReceivedAnswer,
  options: ReceiveOptions,
): Promise<void> {
  const { answer, arrivedMs, asked } = received;
  if (!answer.modified) {
    if (!asked) throw contractError('a 304 that nobody asked for');
    catalog.hold({ ...asked, ...agesOf(received, false, options) });
    return;
  }
  const isProvisional = isBad(answer);
  if (answer.skipped > 0) {
    const { skipped, total } = answer;
    options.log.warn({ group: catalog.group, skipped, total }, 'instruments were left out');
  }
  const before = catalog.copy;
  // One that is no good itself serves no longer than until it is asked for again.
  if (isProvisional && before && arrivedMs < before.servesUntilMs) {
    throw contractError('a catalog that is empty or mostly broken');
  }
  const version = await follow(catalog, answer, options.archive);
  // Searches go on in the version at hand until the new one can be searched.
  if (before && catalog.servesAt(arrivedMs)) await version.index;
  else void version.index;
  const { skipped, etag } = answer;
  catalog.hold({
    version,
    skipped,
    // A 304 would prolong what nobody wants to keep.
    etag: isProvisional ? null : etag,
    ...agesOf(received, isProvisional, options),
  });
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}

/** The version after the one at hand, and how it differs written down. */
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

type Ages = CopyTimes & Pick<CatalogCopy, 'arrivedMs' | 'ageOnArrivalMs'>;

function agesOf(
  { answer, arrivedMs, isRefresh }: ReceivedAnswer,
  isProvisional: boolean,
  { maxAgeMs, staleMs }: ReceiveOptions,
): Ages {
  const delayMs = answer.receivedAtMs - answer.sentAtMs;
  const freshness = freshnessOf(answer.headers, arrivedMs, delayMs, maxAgeMs);
  const times = timesOf(freshness, { arrivedMs, staleMs, isProvisional, isRefresh });
  return { ...times, arrivedMs, ageOnArrivalMs: freshness.ageMs };
}

function contractError(message: string): GatewayError {
  return new GatewayError('contract', 'getAllTickers', message);
}
