import type { Position } from '../../gateway/model.ts';
import { samePosition } from './same-position.ts';
import { type PositionTotals, totalsOf } from './totals.ts';

/** The difference between the list of one version and the list of a later one. */
export interface Delta {
  /** Opened or changed positions, in the order of the list. */
  readonly upserted: readonly Position[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

interface Row {
  position: Position;
  readonly openedAt: number;
  changedAt: number;
  pass: number;
}

const CLOSINGS_KEPT = 256;
const NONE: readonly string[] = [];

/**
 * An account's list with the version at which each position was opened and last changed. No older list is
 * kept: the delta from any version is computed from these versions, so that a slow reader costs a number.
 */
export class Timeline {
  readonly #rows = new Map<string, Row>();
  readonly #closings: Closings;
  #positions: readonly Position[] = [];
  #totals: PositionTotals = totalsOf([]);
  #version = 0;
  #arrangement = 0;
  #pass = 0;
  /** The delta from the previous version to the present one, which is all that most readers need. */
  #latest: Delta = { upserted: [], opened: NONE, closed: NONE };

  constructor(closingsKept: number = CLOSINGS_KEPT) {
    this.#closings = new Closings(closingsKept);
  }

  /** In the gateway's own order. */
  get positions(): readonly Position[] {
    return this.#positions;
  }

  get totals(): PositionTotals {
    return this.#totals;
  }

  /** Increases with every change of the list's content; 0 before the first list. */
  get version(): number {
    return this.#version;
  }

  /** Increases also where only the order of the list changed. */
  get arrangement(): number {
    return this.#arrangement;
  }

  /** Takes the next list; returns whether positions were opened or closed. */
  advance(positions: readonly Position[]): boolean {
    const isFirst = this.#version === 0;
    const version = this.#version + 1;
    this.#pass += 1;
    const pass = this.#pass;
    const list = positions.slice();
    let opened: string[] | null = null;
    let unchanged = 0;
    for (const [index, position] of positions.entries()) {
      const row = this.#rows.get(position.id);
      if (row === undefined) {
        this.#rows.set(position.id, { position, openedAt: version, changedAt: version, pass });
        opened ??= [];
        opened.push(position.id);
        continue;
      }
      row.pass = pass;
      if (samePosition(row.position, position)) {
        // An equal position keeps its object, so that readers can compare by identity.
        list[index] = row.position;
        unchanged += 1;
      } else {
        row.position = position;
        row.changedAt = version;
      }
    }
    const closed = this.#rows.size > list.length ? this.#close(version) : null;
    const membershipChanged = opened !== null || closed !== null;
    if (isFirst || membershipChanged || unchanged < list.length) {
      this.#version = version;
      this.#totals = totalsOf(list);
      const upserted = unchanged === 0 ? list : this.#changedAt(version, list);
      this.#latest = { upserted, opened: opened ?? NONE, closed: closed ?? NONE };
    } else if (sameOrder(list, this.#positions)) {
      return false;
    }
    this.#positions = list;
    this.#arrangement += 1;
    return isFirst || membershipChanged;
  }

  /** Null where the version is not one of this timeline, or too many positions closed since. */
  since(version: number): Delta | null {
    if (version < 1 || version > this.#version || !this.#closings.reachesBackTo(version)) {
      return null;
    }
    if (version === this.#version - 1) return this.#latest;
    const closed = this.#closings.leftSince(version);
    const upserted: Position[] = [];
    const opened: string[] = [];
    for (const [id, row] of this.#rows) {
      if (row.changedAt <= version) continue;
      // A position that closed and opened again in between stayed open for this reader.
      if (row.openedAt > version && !closed.delete(id)) opened.push(id);
    }
    for (const position of this.#positions) {
      const row = this.#rows.get(position.id);
      if (row?.position === position && row.changedAt > version) upserted.push(position);
    }
    return { upserted, opened, closed: [...closed] };
  }

  #changedAt(version: number, list: readonly Position[]): readonly Position[] {
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

function sameOrder(a: readonly Position[], b: readonly Position[]): boolean {
  return a.length === b.length && a.every((position, index) => position === b[index]);
}

/** A position that was in the list from one version until another. */
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
