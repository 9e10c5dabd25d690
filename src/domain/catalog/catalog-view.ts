import type { CatalogCopy } from './catalog-copy.ts';
import type { CatalogVersion } from './catalog-version.ts';
import { type CatalogChanges, everything, noChanges } from './changes.ts';
import type { CatalogHistory } from './history.ts';
import type { VersionArchive } from './version-archive.ts';

/** A group's catalog as one reader got it; a refresh does not change it. */
export class CatalogView {
  readonly group: string;
  readonly version: CatalogVersion;
  /** Rows of the gateway's answer that were left out. */
  readonly skipped: number;
  readonly ageSeconds: number;
  readonly stale: boolean;
  /** TTL for an answer made of this view; 0 for a stale one. */
  readonly freshSeconds: number;
  readonly #copy: CatalogCopy;
  readonly #history: CatalogHistory;
  readonly #archive: VersionArchive | null;

  constructor(
    group: string,
    copy: CatalogCopy,
    nowMs: number,
    history: CatalogHistory,
    archive: VersionArchive | null,
  ) {
    this.group = group;
    this.version = copy.version;
    this.skipped = copy.skipped;
    this.ageSeconds = wholeSeconds(copy.initialAgeMs + nowMs - copy.receivedAtMs);
    this.stale = nowMs >= copy.staleFromMs;
    this.freshSeconds = this.stale ? 0 : wholeSeconds(copy.expiresMs - nowMs);
    this.#copy = copy;
    this.#history = history;
    this.#archive = archive;
  }

  get fetchedAt(): Date {
    return new Date(this.fetchedAtMs);
  }

  get fetchedAtMs(): number {
    return this.#copy.receivedAtMs;
  }

  get expiresAt(): Date {
    return new Date(this.#copy.expiresMs);
  }

  /** The difference from a version the client has; everything where that version is unknown. */
  changes(since: string): CatalogChanges | Promise<CatalogChanges> {
    const { version } = this;
    if (since === version.version) return noChanges(version);
    const known = this.#history.changes(since, version);
    if (known) return known;
    if (this.#archive === null) return everything(version);
    return this.#archive
      .changes(this.group, since, version)
      .then((changes) => changes ?? everything(version));
  }
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
