import type { Position } from '../../gateway/model.ts';

// Those that a moving market changes come first, so that most comparisons end at once. A field that
// is missing here is a type error: it would otherwise change without anybody being told.
const FIELDS = Object.keys({
  priceCurrent: true,
  profit: true,
  updatedAt: true,
  rateProfit: true,
  storage: true,
  stopLoss: true,
  takeProfit: true,
  units: true,
  invested: true,
  rateMargin: true,
  priceOpen: true,
  leverage: true,
  comment: true,
  side: true,
  symbol: true,
  name: true,
  logo: true,
  delayed: true,
  sharia: true,
  digits: true,
  createdAt: true,
  id: true,
} satisfies Record<keyof Position, true>) as readonly (keyof Position)[];

export function samePosition(a: Position, b: Position): boolean {
  if (a === b) return true;
  for (const field of FIELDS) {
    if (a[field] !== b[field] && !sameMoment(a[field], b[field])) return false;
  }
  return true;
}

function sameMoment(a: unknown, b: unknown): boolean {
  return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
}
