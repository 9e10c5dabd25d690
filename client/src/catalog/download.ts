import type { CopyChanges, Owner } from './catalog-copy.ts';
import type { KeyFields } from './instrument.ts';

/** A step of a download: a page, or the changes to the pages that were fetched before. */
export interface Step {
  /** The state that it follows: another one's step is not taken. */
  readonly from: { readonly version: string; readonly after: string | null };
  readonly version: string;
  /** The place where the pages so far end. */
  readonly after: string | null;
  readonly removed: readonly string[];
  readonly upserted: readonly KeyFields[];
}

/**
 * A catalog of which some pages have come. Places mean the same in each version, so that the pages go on after the
 * catalog has changed, once what changed in those that came is known.
 */
export class Download {
  readonly owner: Owner;
  readonly #byId = new Map<string, KeyFields>();
  version = '';
  after: string | null = null;
  /** How many steps led here. */
  steps = 0;

  constructor(owner: Owner) {
    this.owner = owner;
  }

  get instruments(): readonly KeyFields[] {
    return [...this.#byId.values()];
  }

  page(version: string, nodes: readonly KeyFields[], after: string | null): Step {
    return this.#taken({ version, after, removed: [], upserted: nodes });
  }

  changes({ version, removed, upserted }: CopyChanges<KeyFields>): Step {
    return this.#taken({ version, after: this.after, removed, upserted });
  }

  /** False where it is not the step that follows. */
  take({ from, version, after, removed, upserted }: Step): boolean {
    if (from.version !== this.version || from.after !== this.after) return false;
    for (const id of removed) this.#byId.delete(id);
    for (const row of upserted) this.#byId.set(row.id, row);
    this.version = version;
    this.after = after;
    this.steps += 1;
    return true;
  }

  #taken(own: Omit<Step, 'from'>): Step {
    const step = { from: { version: this.version, after: this.after }, ...own };
    this.take(step);
    return step;
  }
}
