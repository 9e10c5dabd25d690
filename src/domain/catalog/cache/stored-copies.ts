import { hash } from 'node:crypto';
import { within } from '../../../../lib/clock.ts';
import { FairScheduler } from '../../../../lib/fair-scheduler.ts';
import { pack } from '../../../../lib/pack.ts';
import { unpack } from '../../../../lib/unpack.ts';
import { jsonItems } from '../../../gateway/json-items.ts';
import type { Instrument } from '../../../gateway/model.ts';
import { toInstruments, toWire } from '../../../gateway/wire/instrument.ts';
import { buildVersion } from '../catalog-version.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { restoredTimes } from './freshness.ts';
import type { CatalogCopy } from './group-catalog.ts';

/** The facts of a copy that are stored beside its instruments; the times count from when it was stored. */
interface About extends Pick<CatalogCopy, 'skipped' | 'etag' | 'initialAgeMs'> {
  readonly version: string;
  readonly sentMs: number;
  readonly staleFromMs: number;
  readonly leftMs: number;
}

// A release that stores anything else has another number: one that runs beside it reads its own alone.
const FORMAT = 1;
// A store that is slow must not make the gateway's answer slower by more.
const LOOK_MS = 1_000;
const MAX_ABOUT_BYTES = 4_096;
const LINE_END = 0x0a;
// Parsed, or written, in about half a millisecond.
const PIECE_LENGTH = 64 * 1024;

/**
 * The newest copy of each group, for a process that has none: of this very gateway, read in this very way, and never older than
 * a copy in memory may be. It opens to nobody without the proof that memory asks for, and whatever fails costs a fetch.
 */
export function createStoredCopies(
  { store, scope }: NonNullable<CatalogsOptions['copies']>,
  options: Pick<CatalogsOptions, 'clock' | 'log' | 'maxAgeMs' | 'staleMs' | 'maxUnpackedBytes'>,
) {
  const { clock, log, maxAgeMs, staleMs, maxUnpackedBytes } = options;
  const keyOf = (key: string) => hash('sha256', JSON.stringify([FORMAT, scope, key]), 'base64url');

  async function restored(key: string): Promise<CatalogCopy | null> {
    const stored = await store.get(keyOf(key));
    if (stored === null) return null;
    const { bytes, leftMs } = stored;
    const end = bytes.subarray(0, MAX_ABOUT_BYTES).indexOf(LINE_END);
    const line = bytes.toString('utf8', 0, end);
    if (lineOf(line.slice(DIGEST_LENGTH)) !== line)
      throw new Error('it is damaged, or none of ours');
    const about: About = JSON.parse(line.slice(DIGEST_LENGTH));
    const times = restoredTimes({ ...about, storedForMs: about.leftMs - leftMs }, options);
    if (times === null) return null;
    const unpacked = await unpack(bytes.subarray(end + 1), 'gzip', maxUnpackedBytes);
    const { instruments, unknownValues } = await toInstruments(jsonItems(unpacked));
    const { version } = await buildVersion(instruments, null);
    // The digest of all that it holds: neither damage nor another reading can hide.
    if (version.version !== about.version) throw new Error('its instruments are others');
    const { skipped, etag } = about;
    return { version, skipped, unknownValues, etag, ...times };
  }

  return {
    async has(key: string): Promise<boolean> {
      const found = store.has(keyOf(key)).catch(() => false);
      return (await within(clock, LOOK_MS, found)) ?? false;
    },
    /** Null where there is none that may be served. */
    async get(key: string): Promise<CatalogCopy | null> {
      try {
        return await restored(key);
      } catch (err) {
        log.warn({ err, group: key }, 'a stored catalog could not be read');
        return null;
      }
    },
    async put(key: string, copy: CatalogCopy): Promise<void> {
      const { version, skipped, etag, initialAgeMs, sentAtMs } = copy;
      const nowMs = clock.now();
      const untilMs = sentAtMs - initialAgeMs + maxAgeMs + staleMs;
      if (copy.isProvisional || untilMs <= nowMs) return;
      try {
        if (!(await store.mayPut(keyOf(key), version.version))) return;
        const about: About = {
          version: version.version,
          skipped,
          etag,
          initialAgeMs,
          sentMs: sentAtMs - nowMs,
          staleFromMs: copy.staleFromMs - nowMs,
          leftMs: untilMs - nowMs,
        };
        const packed = await pack(await jsonOf(version.instruments), 'gzip');
        const bytes = Buffer.concat([Buffer.from(`${lineOf(JSON.stringify(about))}\n`), packed]);
        if (bytes.length > store.maxBytes) throw new Error(`it has ${bytes.length} bytes`);
        await store.put(keyOf(key), bytes, about.leftMs);
      } catch (err) {
        log.warn({ err, group: key }, 'a catalog could not be stored');
      }
    },
  };
}

const DIGEST_LENGTH = 43;

/** The facts of a copy, behind their digest. */
function lineOf(about: string): string {
  return hash('sha256', about, 'base64url') + about;
}

/** The instruments as the gateway would send them, made in slices. */
async function jsonOf(instruments: readonly Instrument[]): Promise<readonly Buffer[]> {
  const scheduler = new FairScheduler();
  const pieces: Buffer[] = [];
  let piece = '[';
  for (const instrument of instruments) {
    if (piece.length > PIECE_LENGTH) {
      pieces.push(Buffer.from(piece));
      piece = '';
      if (scheduler.isSliceOver()) await scheduler.turn('catalog');
    }
    const isFirst = pieces.length === 0 && piece === '[';
    piece += `${isFirst ? '' : ','}${JSON.stringify(toWire(instrument))}`;
  }
  pieces.push(Buffer.from(`${piece}]`));
  return pieces;
}
