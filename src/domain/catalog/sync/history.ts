import type { Instrument } from '../../../gateway/model.ts';
import { type Before, type CatalogVersion, compareInstruments } from '../catalog-version.ts';
import { compareText } from '../sorting.ts';

export interface CatalogChanges {
  readonly version: string;
  /** A client that has an older version starts anew from `upserted`. */
  readonly reset: boolean;
  readonly upserted: readonly Instrument[];
  readonly removed: readonly string[];
}

interface Step {
  readonly from: string;
  readonly to: string;
  readonly before: Before;
  readonly bytes: number;
}

// A map entry with its key's and its digest's text.
const CHANGE_BYTES = 120;
const STEP_BYTES = 400;

/** The steps between a group's versions, with the digests of changes alone: a former version costs its difference. */
export function createHistory(maxBytes: number) {
  const steps: Step[] = [];
  let kept = 0;
  return {
    get bytes(): number {
      return kept;
    },
    add(from: CatalogVersion, to: CatalogVersion, before: Before): void {
      const bytes = STEP_BYTES + before.size * CHANGE_BYTES;
      steps.push({ from: from.version, to: to.version, before, bytes });
      kept += bytes;
      while (kept > maxBytes) kept -= steps.shift()?.bytes ?? kept;
    },
    /** Null where one of the two versions is unknown. */
    changes(since: string, to: CatalogVersion): CatalogChanges | null {
      // Content can recur: of two paths the latest is the shortest.
      const last = steps.findLastIndex((step) => step.to === to.version);
      const first = steps.slice(0, last + 1).findLastIndex((step) => step.from === since);
      if (first < 0) return null;
      // The first step that changed an instrument has its digest at the start, which is set last.
      const path = steps.slice(first, last + 1).toReversed();
      return changesTo(to, new Map(path.flatMap(({ before }) => [...before])));
    },
  };
}

/**
 * The difference between a version and an earlier one of which the digests of these ids are known (null
 * for an id that did not exist). An instrument that changed and changed back is left out.
 */
function changesTo(
  version: CatalogVersion,
  before: Iterable<readonly [string, string | null]>,
): CatalogChanges {
  const upserted: Instrument[] = [];
  const removed: string[] = [];
  for (const [id, digest] of before) {
    if (version.digests.get(id) === (digest ?? undefined)) continue;
    const instrument = version.byId.get(id);
    if (instrument) upserted.push(instrument);
    else removed.push(id);
  }
  upserted.sort(compareInstruments);
  // The same on each replica, whose answers then have one ETag.
  removed.sort(compareText);
  return { version: version.version, reset: false, upserted, removed };
}
