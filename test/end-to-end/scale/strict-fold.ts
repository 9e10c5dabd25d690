import type { ChangesEvent } from '../live/watcher.ts';

export interface Folds {
  /** Events that do not fit the list before them: a gap, or a row too many. */
  readonly misfits: readonly string[];
  /** Events on a new line that go on from the last cursor, and those that are the whole list. */
  readonly continued: number;
  readonly snapshots: number;
}

/** Folds a subscriber's events, and holds each to what the documentation says of it. */
export function foldsOf(events: readonly ChangesEvent[]): Folds {
  const rows = new Set<string>();
  const misfits: string[] = [];
  let snapshots = 0;
  for (const [at, event] of events.entries()) {
    const { snapshot, upserted, opened, closed, totals } = event;
    const misfit = (words: string) => misfits.push(`event ${at}: ${words}`);
    if (snapshot) {
      snapshots += 1;
      rows.clear();
    } else {
      const unknown = closed.filter((id) => !rows.has(id));
      if (unknown.length > 0) misfit(`closes ${unknown}, which the list does not have`);
      const news = upserted.filter(({ id }) => !rows.has(id)).map(({ id }) => id);
      if (news.toSorted().join() !== opened.toSorted().join()) {
        misfit(`opens ${opened}, while ${news} are new`);
      }
    }
    for (const id of closed) rows.delete(id);
    for (const { id } of upserted) rows.add(id);
    if (rows.size !== totals.count) misfit(`leaves ${rows.size} rows of ${totals.count}`);
  }
  return { misfits, continued: events.length - snapshots, snapshots };
}
