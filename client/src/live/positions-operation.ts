import { POSITION_FIELDS, type Position } from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import { type LiveFields, rowFields, tickFields } from './chosen-fields.ts';
import type { ListChanges, LiveEvent, LiveVariables, PositionTotals } from './live-source.ts';

/** One event of the subscription. */
export interface PositionChanges extends LiveEvent, ListChanges<Position> {
  readonly totals: PositionTotals;
}

export interface PositionChangesData {
  readonly positionChanges: PositionChanges;
}

/** The same list by a query. */
export interface PolledPositions {
  readonly positions: readonly Position[] | null;
  readonly positionTotals: PositionTotals | null;
}

/**
 * The texts that `positions` sends if these fields are selected, for a manifest of trusted documents. The query is sent if
 * no WebSocket opens.
 */
export function positionsDocuments(fields: LiveFields = {}): {
  readonly subscription: TypedText<PositionChangesData, LiveVariables>;
  readonly query: TypedText<PolledPositions, never>;
} {
  const rows = rowFields(POSITION_FIELDS, fields.positionFields);
  return {
    subscription: positionsSubscription(fields),
    query: `query PolledPositions {
  positions { ${rows} }
  positionTotals { count invested profit }
}`,
  };
}

/** The text of the subscription alone. */
export function positionsSubscription({
  positionFields,
}: LiveFields): TypedText<PositionChangesData, LiveVariables> {
  return `subscription PositionChanges($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  positionChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    upserted { ${rowFields(POSITION_FIELDS, positionFields)} }
    ticks { ${tickFields(positionFields)} }
    closed status asOf totals { count invested profit }
  }
}`;
}
