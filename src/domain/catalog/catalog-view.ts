import type { CatalogCopy, GroupCatalog } from './cache/group-catalog.ts';
import type { CatalogVersion } from './catalog-version.ts';
import type { CatalogChanges } from './sync/history.ts';

/** A group's catalog as one reader got it; a refresh does not change it. */
export class CatalogView {
  readonly group: string;
  readonly key: string;
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly unknownValues: number;
  readonly ageSeconds: number;
  readonly stale: boolean;
  /** TTL for an answer made of this view; 0 for a stale one. */
  readonly freshSeconds: number;
  readonly #catalog: GroupCatalog;
  readonly #copy: CatalogCopy;

  /** `isStale` also where the copy is young, as with a proof that is kept past its age. */
  constructor(catalog: GroupCatalog, copy: CatalogCopy, nowMs: number, isStale: boolean) {
    this.group = catalog.group;
    this.key = catalog.key;
    this.version = copy.version;
    this.skipped = copy.skipped;
    this.unknownValues = copy.unknownValues;
    this.ageSeconds = wholeSeconds(copy.initialAgeMs + nowMs - copy.sentAtMs);
    this.stale = isStale || nowMs >= copy.staleFromMs;
    this.freshSeconds = this.stale ? 0 : wholeSeconds(copy.expiresMs - nowMs);
    this.#catalog = catalog;
    this.#copy = copy;
  }

  get fetchedAt(): Date {
    return new Date(this.fetchedAtMs);
  }

  get fetchedAtMs(): number {
    return this.#copy.sentAtMs;
  }

  get expiresAt(): Date {
    return new Date(this.#copy.expiresMs);
  }

  /** The difference from a version the client has; everything where that version is unknown. */
  changes(since: string): CatalogChanges | Promise<CatalogChanges> {
    const { version, instruments } = this.version;
    const { key, history, archive } = this.#catalog;
    if (since === version) return { version, reset: false, upserted: [], removed: [] };
    const known = history.changes(since, this.version);
    if (known) return known;
    const everything = { version, reset: true, upserted: instruments, removed: [] };
    if (archive === null) return everything;
    return archive.changes(key, since, this.version).then((changes) => changes ?? everything);
  }
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
