/** The difference between the list of one version and the list of a later one. */
export interface Delta<T> {
  /** Opened or changed items, in the order of the list. */
  readonly upserted: readonly T[];
  /** Those of which only moving fields have changed, where they are told apart. */
  readonly ticks: readonly T[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

/** A member of a list, which its id tells from the others; those of some lists have a size. */
export interface Item {
  readonly id: string;
  readonly units?: number | null;
}

interface Row<T> {
  item: T;
  readonly openedAt: number;
  changedAt: number;
  /** When another field than a moving one last changed. */
  changedBesidesAt: number;
}

/** An item that was in the list from one version until another. */
interface Closing {
  readonly id: string;
  readonly openedAt: number;
  readonly closedAt: number;
}

type Compare<T> = (a: T, b: T) => boolean;

export const CLOSINGS_KEPT = 256;
export const NOTHING: Delta<never> = { upserted: [], ticks: [], opened: [], closed: [] };

/**
 * One list of a feed with the version at which each item was opened and last changed. No older list is
 * kept: the delta from any version is computed from these versions, so that a slow reader costs a number.
 * The versions are the feed's, which all of its lists share.
 */
export class Timeline<T extends Item> {
  readonly #isSame: Compare<T>;
  readonly #isSameBesides: Compare<T>;
  readonly #rows = new Map<string, Row<T>>();
  /** The latest closings, for the delta of a reader that was disconnected. */
  readonly #closings: Closing[] = [];
  /** No delta is known from a version before, which is that of the first list, or of the last closing that is forgotten. */
  #knownSince = 1;
  #items: readonly T[] = [];
  /** That of the last change of the list's content; 0 before the first list. */
  #version = 0;

  /** `isSameBesides` compares all fields but the moving ones. */
  constructor(isSame: Compare<T>, isSameBesides: Compare<T> = () => false) {
    this.#isSame = isSame;
    this.#isSameBesides = isSameBesides;
  }

  /** In the gateway's own order; the same array as long as nothing has changed, not even the order. */
  get items(): readonly T[] {
    return this.#items;
  }

  /**
   * Takes the next list, which has the given version if its content has changed; `isMembers`: items came, left, or have
   * another size, since a partial close keeps the id, and changes the account's figures.
   */
  advance(items: readonly T[], version: number) {
    const isFirst = this.#version === 0;
    const list = items.slice();
    let isMembers = isFirst;
    let isContent = isFirst;
    for (const [index, item] of items.entries()) {
      const row = this.#rows.get(item.id);
      if (row === undefined) {
        const since = { openedAt: version, changedAt: version, changedBesidesAt: version };
        this.#rows.set(item.id, { item, ...since });
        isMembers = true;
      } else if (this.#isSame(row.item, item)) {
        // An equal item keeps its object, so that readers can compare by identity.
        list[index] = row.item;
      } else {
        isMembers ||= row.item.units !== item.units;
        isContent = true;
        if (!this.#isSameBesides(row.item, item)) row.changedBesidesAt = version;
        row.item = item;
        row.changedAt = version;
      }
    }
    if (this.#rows.size > list.length) {
      this.#closeAllBut(list, version);
      isMembers = true;
    }
    isContent ||= isMembers;
    if (isFirst) this.#knownSince = version;
    if (isContent) this.#version = version;
    if (isContent || !sameOrder(list, this.#items)) this.#items = list;
    return { isContent, isMembers };
  }

  /** Null where the version is from before the first list, or too many items closed since. `ticks`: whether they are told apart. */
  since(version: number, ticks: boolean): Delta<T> | null {
    if (version < this.#knownSince) return null;
    if (version >= this.#version) return NOTHING;
    // Those that were in the list at that version; some may be open again.
    const closed = new Set<string>();
    for (const { id, openedAt, closedAt } of this.#closings) {
      if (openedAt <= version && closedAt > version) closed.add(id);
    }
    const opened: string[] = [];
    for (const [id, { openedAt }] of this.#rows) {
      // An item that closed and opened again in between stayed open for this reader.
      if (openedAt > version && !closed.delete(id)) opened.push(id);
    }
    const delta = { upserted: [] as T[], ticks: [] as T[], opened, closed: [...closed] };
    for (const item of this.#items) {
      const row = this.#rows.get(item.id);
      if (row?.item !== item || row.changedAt <= version) continue;
      (ticks && row.changedBesidesAt <= version ? delta.ticks : delta.upserted).push(item);
    }
    return delta;
  }

  #closeAllBut(items: readonly T[], version: number): void {
    const ids = new Set(items.map(({ id }) => id));
    for (const [id, { openedAt }] of this.#rows) {
      if (ids.has(id)) continue;
      this.#rows.delete(id);
      this.#closings.push({ id, openedAt, closedAt: version });
      if (this.#closings.length > CLOSINGS_KEPT) {
        this.#knownSince = this.#closings.shift()?.closedAt ?? this.#knownSince;
      }
    }
  }
}

function sameOrder(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
