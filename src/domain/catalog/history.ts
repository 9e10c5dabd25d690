import type { Before } from './build-version.ts';
import type { CatalogVersion } from './catalog-version.ts';
import { type CatalogChanges, changesTo } from './changes.ts';

interface Step {
  readonly from: string;
  readonly to: string;
  readonly before: Before;
  readonly bytes: number;
}

// An entry of a map with its key's and its digest's text.
const CHANGE_BYTES = 120;
const STEP_BYTES = 400;

/**
 * How a group's catalog came to be what it is. A step keeps the digests of what it changed and
 * nothing else, so a version that is gone costs no more than its difference.
 */
export class CatalogHistory {
  readonly #maxBytes: number;
  #steps: Step[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(from: CatalogVersion, to: CatalogVersion, before: Before): void {
    const bytes = STEP_BYTES + before.size * CHANGE_BYTES;
    this.#steps.push({ from: from.version, to: to.version, before, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#bytes -= this.#steps.shift()?.bytes ?? this.#bytes;
  }

  /** Null where one of the two is not remembered. */
  changes(since: string, to: CatalogVersion): CatalogChanges | null {
    // Contents can come back: of two ways the latest is the shortest.
    const last = this.#steps.findLastIndex((step) => step.to === to.version);
    const first = this.#steps.slice(0, last + 1).findLastIndex((step) => step.from === since);
    if (first < 0) return null;
    const before = new Map<string, string | null>();
    for (const step of this.#steps.slice(first, last + 1)) {
      // The first step that touched an instrument knows what it was at the beginning.
      for (const [id, digest] of step.before) if (!before.has(id)) before.set(id, digest);
    }
    return changesTo(to, before);
  }
}
