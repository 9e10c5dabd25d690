import { POSITION_FIELDS, type Position } from '../generated/rows.ts';
import type { TypedText } from '../operation.ts';
import { type LiveFields, rowFields, tickFields } from './chosen-fields.ts';
import { listText } from './list-operation.ts';
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
  const rows = rowFields(POSITION_FIELDS, positionFields);
  const totals = 'totals { count invested profit }';
  return listText('positionChanges', rows, tickFields(positionFields), totals);
}
