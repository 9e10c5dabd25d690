import type { Row } from '../gateway/wire/scalars.ts';

/** The well-formed request of operations 4 and 5. */
export interface OrderRequest {
  readonly symbol: string;
  readonly isBuy: boolean;
  readonly size: { readonly by: 'units' | 'amount'; readonly value: number };
  /** Null for a market order. */
  readonly price: number | null;
  /** 0 without a stop-loss. */
  readonly sl: number;
  readonly tp: number;
  /** The loss or profit in money at which it closes; 0 without one. */
  readonly slAmount: number;
  readonly tpAmount: number;
  readonly comment: string;
}

/** The name of the first field that breaks the interface's table, and how. */
interface Malformed {
  readonly field: string;
  readonly problem: string;
}

export type Read<T> =
  | { readonly kind: 'request'; readonly request: T }
  | { readonly kind: 'malformed'; readonly malformed: Malformed };

const MAX_COMMENT_LENGTH = 1_000;

export function readMarketOrder(body: Row, directionField: string): Read<OrderRequest> {
  const problem =
    commonProblem(body, directionField) ??
    numberProblem(body, 'price', false) ??
    (body.type === 'unit' || body.type === 'amount'
      ? amountsProblem(body)
      : { field: 'type', problem: 'must be unit or amount' });
  if (problem !== null) return { kind: 'malformed', malformed: problem };
  return {
    kind: 'request',
    request: {
      ...common(body, directionField),
      size: { by: body.type === 'unit' ? 'units' : 'amount', value: body.amount as number },
      price: 'price' in body ? (body.price as number) : null,
      slAmount: zeroWhereMissing(body.slAmount),
      tpAmount: zeroWhereMissing(body.tpAmount),
    },
  };
}

export function readLimitOrder(body: Row, directionField: string): Read<OrderRequest> {
  const problem = commonProblem(body, directionField) ?? numberProblem(body, 'price', true);
  if (problem !== null) return { kind: 'malformed', malformed: problem };
  return {
    kind: 'request',
    request: {
      ...common(body, directionField),
      size: { by: 'amount', value: body.amount as number },
      price: body.price as number,
      slAmount: 0,
      tpAmount: 0,
    },
  };
}

function commonProblem(body: Row, directionField: string): Malformed | null {
  const direction = body[directionField];
  if (typeof body.symbol !== 'string' || body.symbol === '') {
    return { field: 'symbol', problem: 'must be a string' };
  }
  if (direction !== 'buy' && direction !== 'sell') {
    return { field: directionField, problem: 'must be buy or sell' };
  }
  if (body.comment !== undefined) {
    const { comment } = body;
    if (typeof comment !== 'string' || comment.length > MAX_COMMENT_LENGTH) {
      return {
        field: 'comment',
        problem: `must be a string of up to ${MAX_COMMENT_LENGTH} characters`,
      };
    }
  }
  return (
    numberProblem(body, 'amount', true) ??
    numberProblem(body, 'sl', false) ??
    numberProblem(body, 'tp', false)
  );
}

function amountsProblem(body: Row): Malformed | null {
  for (const [field, price] of [
    ['slAmount', 'sl'],
    ['tpAmount', 'tp'],
  ] as const) {
    const problem = numberProblem(body, field, false);
    if (problem !== null) return problem;
    if (body[field] === undefined) continue;
    if (body.type !== 'amount') return { field, problem: 'goes with type amount only' };
    if (body[price] !== undefined) return { field, problem: `cannot stand beside ${price}` };
  }
  return null;
}

function numberProblem(body: Row, field: string, required: boolean): Malformed | null {
  const value = body[field];
  if (value === undefined) return required ? { field, problem: 'is required' } : null;
  // JSON.parse reads 1e999 as Infinity.
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    return { field, problem: 'must be a number of at least 0' };
  }
  return null;
}

function common(body: Row, directionField: string) {
  return {
    symbol: body.symbol as string,
    isBuy: body[directionField] === 'buy',
    sl: zeroWhereMissing(body.sl),
    tp: zeroWhereMissing(body.tp),
    comment: typeof body.comment === 'string' ? body.comment : '',
  };
}

function zeroWhereMissing(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
