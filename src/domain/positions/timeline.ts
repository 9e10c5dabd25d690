/** The difference between the list of one version and the list of a later one. */
export interface Delta<T> {
  /** Opened or changed items, in the order of the list. */
  readonly upserted: readonly T[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

/** A member of a list, which its id tells from the others. */
export interface Item {
  readonly id: string;
}

export interface TimelineOptions<T> {
  readonly isSame: (a: T, b: T) => boolean;
  /** Whether a changed item is still the same holding; without it the id alone says so. */
  readonly isSameMember?: (a: T, b: T) => boolean;
  readonly closingsKept?: number;
}

interface Row<T> {
  item: T;
  readonly openedAt: number;
  changedAt: number;
  pass: number;
}

const CLOSINGS_KEPT = 256;
const NONE: readonly string[] = [];
const NOTHING: Delta<never> = { upserted: [], opened: NONE, closed: NONE };

/**
 * One list of a feed with the version at which each item was opened and last changed. No older list is
 * kept: the delta from any version is computed from these versions, so that a slow reader costs a number.
 * The versions are the feed's, which all of its lists share.
 */
export class Timeline<T extends Item> {
  readonly #options: TimelineOptions<T>;
  readonly #rows = new Map<string, Row<T>>();
  readonly #closings: Closings;
  #items: readonly T[] = [];
  #version = 0;
  #versionBefore = 0;
  #firstVersion = 0;
  #pass = 0;
  /** The delta of the latest change, which is all that most readers need. */
  #latest: Delta<T> = NOTHING;

  constructor(options: TimelineOptions<T>) {
    this.#options = options;
    this.#closings = new Closings(options.closingsKept ?? CLOSINGS_KEPT);
  }

  /** In the gateway's own order; the same array as long as nothing has changed, not even the order. */
  get items(): readonly T[] {
    return this.#items;
  }

  /** The version of the last change of the list's content; 0 before the first list. */
  get version(): number {
    return this.#version;
  }

  /**
   * Takes the next list, which has the given version if its content has changed; `isMembers`: items came, left, or are
   * no longer the same holding.
   */
  advance(items: readonly T[], version: number) {
    const { isSame, isSameMember } = this.#options;
    const isFirst = this.#version === 0;
    this.#pass += 1;
    const pass = this.#pass;
    const list = items.slice();
    let opened: string[] | null = null;
    let unchanged = 0;
    let isMembers = isFirst;
    for (const [index, item] of items.entries()) {
      const row = this.#rows.get(item.id);
      if (row === undefined) {
        this.#rows.set(item.id, { item, openedAt: version, changedAt: version, pass });
        opened ??= [];
        opened.push(item.id);
        continue;
      }
      row.pass = pass;
      if (isSame(row.item, item)) {
        // An equal item keeps its object, so that readers can compare by identity.
        list[index] = row.item;
        unchanged += 1;
      } else {
        isMembers ||= isSameMember?.(row.item, item) === false;
        row.item = item;
        row.changedAt = version;
      }
    }
    const closed = this.#rows.size > list.length ? this.#close(version) : null;
    isMembers ||= opened !== null || closed !== null;
    const isContent = isMembers || unchanged < list.length;
    if (isContent) {
      if (isFirst) this.#firstVersion = version;
      this.#versionBefore = this.#version;
      this.#version = version;
      const upserted = unchanged === 0 ? list : this.#changedAt(version, list);
      this.#latest = { upserted, opened: opened ?? NONE, closed: closed ?? NONE };
    } else if (sameOrder(list, this.#items)) {
      return { isContent, isMembers };
    }
    this.#items = list;
    return { isContent, isMembers };
  }

  /** Null where the version is from before the first list, or too many items closed since. */
  since(version: number): Delta<T> | null {
    if (version < 1 || version < this.#firstVersion) return null;
    if (!this.#closings.reachesBackTo(version)) return null;
    if (version >= this.#version) return NOTHING;
    if (version >= this.#versionBefore) return this.#latest;
    const closed = this.#closings.leftSince(version);
    const upserted: T[] = [];
    const opened: string[] = [];
    for (const [id, row] of this.#rows) {
      if (row.changedAt <= version) continue;
      // An item that closed and opened again in between stayed open for this reader.
      if (row.openedAt > version && !closed.delete(id)) opened.push(id);
    }
    for (const item of this.#items) {
      const row = this.#rows.get(item.id);
      if (row?.item === item && row.changedAt > version) upserted.push(item);
    }
    return { upserted, opened, closed: [...closed] };
  }

  #changedAt(version: number, list: readonly T[]): readonly T[] {
    return list.filter(({ id }) => this.#rows.get(id)?.changedAt === version);
  }

  #close(version: number): string[] {
    const closed: string[] = [];
    for (const [id, row] of this.#rows) {
      if (row.pass === this.#pass) continue;
      this.#rows.delete(id);
      this.#closings.add({ id, openedAt: row.openedAt, closedAt: version });
      closed.push(id);
    }
    return closed;
  }
}

function sameOrder(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** An item that was in the list from one version until another. */
interface Closing {
  readonly id: string;
  readonly openedAt: number;
  readonly closedAt: number;
}

/** A bounded list of the latest closings, for the delta of a reader that was disconnected. */
class Closings {
  readonly #kept: Closing[] = [];
  readonly #capacity: number;
  #forgottenAt = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(closing: Closing): void {
    this.#kept.push(closing);
    if (this.#kept.length <= this.#capacity) return;
    this.#forgottenAt = this.#kept.shift()?.closedAt ?? this.#forgottenAt;
  }

  /** Whether every closing after that version is still known. */
  reachesBackTo(version: number): boolean {
    return version >= this.#forgottenAt;
  }

  /** The ids that were in the list at that version and were closed since; some may be open again. */
  leftSince(version: number): Set<string> {
    const ids = new Set<string>();
    for (const { id, openedAt, closedAt } of this.#kept) {
      if (openedAt <= version && closedAt > version) ids.add(id);
    }
    return ids;
  }
}
