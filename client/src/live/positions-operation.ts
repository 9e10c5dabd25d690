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

/** The text that `positions` sends where these fields are chosen, for a manifest of trusted documents. */
export function positionsDocument({
  positionFields,
}: LiveFields = {}): TypedText<PositionChangesData, LiveVariables> {
  return `subscription PositionChanges($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  positionChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    upserted {
      ${rowFields(POSITION_FIELDS, positionFields)}
    }
    ticks { ${tickFields(positionFields)} }
    closed totals { count invested profit } status asOf
  }
}`;
}
