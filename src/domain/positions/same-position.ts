import type { Position } from '../../gateway/model.ts';

/**
 * Whether two positions are equal in every field. Fields are written out, because a loop over their names
 * would take ten times as long. Those that a moving market changes come first, so that most comparisons
 * end early. A change of a field missing here would never be emitted.
 */
export function samePosition(a: Position, b: Position): boolean {
  return (
    a === b ||
    (a.priceCurrent === b.priceCurrent &&
      a.profit === b.profit &&
      a.updatedAt === b.updatedAt &&
      a.rateProfit === b.rateProfit &&
      a.storage === b.storage &&
      a.stopLoss === b.stopLoss &&
      a.takeProfit === b.takeProfit &&
      a.units === b.units &&
      a.invested === b.invested &&
      a.rateMargin === b.rateMargin &&
      a.priceOpen === b.priceOpen &&
      a.leverage === b.leverage &&
      a.comment === b.comment &&
      a.side === b.side &&
      a.symbol === b.symbol &&
      a.name === b.name &&
      a.logo === b.logo &&
      a.delayed === b.delayed &&
      a.sharia === b.sharia &&
      a.digits === b.digits &&
      a.createdAt === b.createdAt &&
      a.id === b.id)
  );
}

/** Whether a position is as large as before: a partial close keeps the id, and changes the account's figures. */
export function sameSize(a: Position, b: Position): boolean {
  return a.units === b.units;
}
