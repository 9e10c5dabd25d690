import type { Position } from '../generated/rows.ts';
import type {
  FoldOptions,
  ListChanges,
  LiveEvent,
  LiveSum,
  PositionTotals,
} from './live-source.ts';
import type { PolledPositions } from './positions-operation.ts';
import { applyChanges, idOf, isSame, type KeyOf, withKnownRows } from './rows.ts';

/** The result of all events so far. The list and its cursor are one value, so that neither is newer than the other. */
export interface FoldedList<Row> extends LiveSum {
  /** The rows in the order of the last whole list, then those that were added later. */
  readonly rows: readonly Row[];
  /** Null if the list has none. */
  readonly totals: PositionTotals | null;
  /** The latest cursors, to recognize a repeated event. */
  readonly seen: readonly string[];
}

const CURSORS_KEPT = 16;

/**
 * Applies an event. The result is the state itself if the event was applied before, and null if an event is missing or came
 * out of order: then only a subscription without a cursor can repair the list.
 */
export function foldList<Row extends object>(
  state: FoldedList<Row> | null,
  event: LiveEvent & ListChanges<Row>,
  keyOf: KeyOf<Row>,
  { isFirst = false }: FoldOptions = {},
): FoldedList<Row> | null {
  const replace = () =>
    stateAfter(state, event, withKnownRows(state?.rows ?? [], event.upserted, keyOf));
  if (state === null) return event.snapshot ? replace() : null;
  // The event may come from another server, whose cursors differ from those that were applied.
  if (isFirst && event.snapshot) return { ...replace(), seen: [event.cursor] };
  const isRepeated = event.cursor === state.cursor;
  if (!isRepeated && state.seen.includes(event.cursor)) return state;
  const isLate = !isFirst && Date.parse(event.asOf) < state.asOf.getTime();
  // An older event that has not been applied arrived out of order: the present list may lack its changes.
  if (isLate && !isRepeated) return null;
  if (event.snapshot && !isLate) return replace();
  const changed = event.snapshot
    ? withKnownRows(state.rows, event.upserted, keyOf)
    : applyChanges(state.rows, event, keyOf);
  if (changed === null) return null;
  if (isRepeated) {
    // The cursor was applied before, but this event has changes: an event without changes has overtaken this one.
    if (changed !== state.rows) return null;
    const hasNews =
      event.status !== state.status || Date.parse(event.asOf) !== state.asOf.getTime();
    return hasNews && !isLate ? stateAfter(state, event, changed) : state;
  }
  // A whole list that no longer has the server's count lacks an event.
  const wasWhole = state.rows.length === state.totals?.count;
  if (wasWhole && event.totals && changed.length !== event.totals.count) return null;
  return stateAfter(state, event, changed);
}

/** The whole list from a query that was sent at this time; null if the answer lacks it. */
export function polledList(
  state: FoldedList<Position> | null,
  { positions, positionTotals }: PolledPositions,
  sentAt: Date,
): FoldedList<Position> | null {
  if (positions === null) return null;
  const event = {
    cursor: '',
    snapshot: true,
    totals: positionTotals ?? { count: positions.length, invested: null, profit: null },
    status: 'DELAYED',
    asOf: sentAt.toISOString(),
  } as const;
  return stateAfter(state, event, withKnownRows(state?.rows ?? [], positions, idOf));
}

function stateAfter<Row>(
  state: FoldedList<Row> | null,
  event: LiveEvent,
  rows: readonly Row[],
): FoldedList<Row> {
  const { cursor, status, asOf } = event;
  const seen = state?.seen ?? [];
  const known = state?.totals ?? null;
  const totals = event.totals ?? known;
  const areSame = known !== null && totals !== null && isSame(known, totals);
  return {
    cursor,
    rows,
    totals: areSame ? known : totals,
    status,
    asOf: new Date(asOf),
    seen: seen.at(-1) === cursor ? seen : [...seen, cursor].slice(-CURSORS_KEPT),
  };
}
