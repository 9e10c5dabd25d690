import type { Position } from '../generated/rows.ts';
import type { FoldOptions, LiveSum, PositionTotals } from './live-source.ts';
import type { PositionChanges } from './positions-operation.ts';
import { applyChanges, isSame, withKnownRows } from './rows.ts';

/** The result of all events so far. The list and its cursor are one value, so that neither is newer than the other. */
export interface FoldedPositions extends LiveSum {
  /** In the order of the last whole list; positions opened since come after it. */
  readonly positions: readonly Position[];
  readonly totals: PositionTotals;
  /** When the gateway last confirmed the list. */
  readonly asOf: Date;
  /** The latest cursors, by which an event that comes again is known. */
  readonly seen: readonly string[];
}

const CURSORS_KEPT = 16;

/**
 * Applies an event. The result is the state itself where the event has been applied before, and null where
 * an event is missing or came out of order: then only a subscription without a cursor gives the list again.
 */
export function foldPositions(
  state: FoldedPositions | null,
  event: PositionChanges,
  { isFirst = false }: FoldOptions = {},
): FoldedPositions | null {
  if (state === null)
    return event.snapshot ? next(null, event, withKnownRows([], event.upserted)) : null;
  const replace = () => next(state, event, withKnownRows(state.positions, event.upserted));
  if (isFirst && event.snapshot) return replace();
  const isRepeated = event.cursor === state.cursor;
  if (!isRepeated && state.seen.includes(event.cursor)) return state;
  const changed = withKnownRows(state.positions, applyChanges(state.positions, event));
  const isLate = !isFirst && Date.parse(event.asOf) < state.asOf.getTime();
  if (isRepeated && !event.snapshot) {
    // An event without changes came ahead of this one, which has the same cursor.
    if (changed !== state.positions) return null;
    const isSameNews =
      event.status === state.status && Date.parse(event.asOf) === state.asOf.getTime();
    return isLate || isSameNews ? state : next(state, event, changed);
  }
  // An older event that has not been applied arrived out of order: the present list may lack its changes.
  if (isLate) return null;
  if (event.snapshot) return replace();
  const wasWhole = state.positions.length === state.totals.count;
  if (wasWhole && changed.length !== event.totals.count) return null;
  return next(state, event, changed);
}

function next(
  state: FoldedPositions | null,
  { cursor, totals, status, asOf }: PositionChanges,
  positions: readonly Position[],
): FoldedPositions {
  const seen = state?.seen ?? [];
  return {
    cursor,
    positions,
    totals: state !== null && isSame(state.totals, totals) ? state.totals : totals,
    status,
    asOf: new Date(asOf),
    seen: seen.at(-1) === cursor ? seen : [...seen.slice(1 - CURSORS_KEPT), cursor],
  };
}
