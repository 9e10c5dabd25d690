/** The difference between the list of one version and the list of a later one. */
export interface Delta<T> {
  /** Opened or changed rows, in the order of the list. */
  readonly upserted: readonly T[];
  /** Rows of which only moving fields have changed, where they are told apart. */
  readonly ticks: readonly T[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

export function isEmpty({ upserted, ticks, closed }: Delta<unknown>): boolean {
  return upserted.length === 0 && ticks.length === 0 && closed.length === 0;
}

/** How the rows of a list are told apart and compared. */
export interface RowRules<T> {
  /** No list has a key twice. */
  readonly keyOf: (row: T) => string;
  readonly isSame: Compare<T>;
  /** Compares all fields but the moving ones; left out, none is moving. */
  readonly isSameBesides?: Compare<T> | undefined;
  /** Whether a row has another size, which counts as another member; left out, rows have none. */
  readonly isResized?: Compare<T>;
}

type Compare<T> = (a: T, b: T) => boolean;

interface Kept<T> {
  row: T;
  readonly openedAt: number;
  changedAt: number;
  /** When another field than a moving one last changed. */
  changedBesidesAt: number;
}

const CLOSINGS_KEPT = 256;
const NOTHING: Delta<never> = { upserted: [], ticks: [], opened: [], closed: [] };

/**
 * One list with the version, which all lists of a state share, at which each row was opened and last changed. No older list is
 * kept: the delta from any version is computed from these, so that a slow reader costs a number.
 */
export class Timeline<T> {
  readonly #rules: RowRules<T>;
  readonly #kept = new Map<string, Kept<T>>();
  /** The rows that left last, for the delta of a reader that was disconnected. */
  readonly #closings: [id: string, openedAt: number, closedAt: number][] = [];
  /** No delta is known from a version before, which is that of the first list, or of the last closing that is forgotten. */
  #knownSince = 1;
  /** The version of the last change of the list's content; 0 before the first list. */
  #version = 0;
  /** The rows in the backend's order; the same array as long as nothing has changed, not even the order. */
  rows: readonly T[] = [];

  constructor(rules: RowRules<T>) {
    this.#rules = rules;
  }

  /** Takes the next list, which has this version if its content has changed. `isMembers`: rows came, left or have another size. */
  advance(rows: readonly T[], version: number) {
    const { keyOf, isSame, isSameBesides, isResized } = this.#rules;
    const isFirst = this.#version === 0;
    const list = rows.slice();
    let isMembers = isFirst;
    let isContent = isFirst;
    for (const [index, row] of rows.entries()) {
      const kept = this.#kept.get(keyOf(row));
      if (kept === undefined) {
        const since = { openedAt: version, changedAt: version, changedBesidesAt: version };
        this.#kept.set(keyOf(row), { row, ...since });
        isMembers = true;
      } else if (isSame(kept.row, row)) {
        // An equal row keeps its object, so that readers can compare by identity.
        list[index] = kept.row;
      } else {
        isMembers ||= isResized?.(kept.row, row) ?? false;
        isContent = true;
        if (!isSameBesides?.(kept.row, row)) kept.changedBesidesAt = version;
        kept.row = row;
        kept.changedAt = version;
      }
    }
    if (this.#kept.size > list.length) {
      this.#closeAllBut(list, version);
      isMembers = true;
    }
    isContent ||= isMembers;
    if (isFirst) this.#knownSince = version;
    if (isContent) this.#version = version;
    if (isContent || list.some((row, index) => row !== this.rows[index])) this.rows = list;
    return { isContent, isMembers };
  }

  /**
   * All rows where `version` is 0, else what has changed since; null where the version is from before the first list, or too
   * many rows closed since. `ticks`: whether rows of which only moving fields have changed are told apart.
   */
  changes(version: number, ticks: boolean): Delta<T> | null {
    if (version === 0) return { ...NOTHING, upserted: this.rows };
    if (version < this.#knownSince) return null;
    if (version >= this.#version) return NOTHING;
    // Rows that were in the list at that version; some may be open again.
    const closed = new Set<string>();
    for (const [id, openedAt, closedAt] of this.#closings) {
      if (openedAt <= version && closedAt > version) closed.add(id);
    }
    const opened: string[] = [];
    for (const [id, { openedAt }] of this.#kept) {
      // A row that closed and opened again in between stayed open for this reader.
      if (openedAt > version && !closed.delete(id)) opened.push(id);
    }
    const delta = { upserted: [] as T[], ticks: [] as T[], opened, closed: [...closed] };
    for (const row of this.rows) {
      const kept = this.#kept.get(this.#rules.keyOf(row));
      if (kept?.row !== row || kept.changedAt <= version) continue;
      (ticks && kept.changedBesidesAt <= version ? delta.ticks : delta.upserted).push(row);
    }
    return delta;
  }

  #closeAllBut(rows: readonly T[], version: number): void {
    const ids = new Set(rows.map(this.#rules.keyOf));
    for (const [id, { openedAt }] of this.#kept) {
      if (ids.has(id)) continue;
      this.#kept.delete(id);
      this.#closings.push([id, openedAt, version]);
      if (this.#closings.length > CLOSINGS_KEPT) {
        const [, , closedAt] = this.#closings.shift() ?? [];
        this.#knownSince = closedAt ?? this.#knownSince;
      }
    }
  }
}
