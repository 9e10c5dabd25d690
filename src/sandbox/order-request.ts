import { MARKET_ORDER } from '../gateway/operations/open-position.ts';
import { LIMIT_ORDER } from '../gateway/operations/place-limit-order.ts';
import { isObject } from '../lib/json.ts';
import { valuesIn } from './body.ts';

const { names: NAMES } = MARKET_ORDER;
type Field = keyof typeof NAMES;
/** The values of a body, not checked, by the table's names. */
type Values = Readonly<Partial<Record<Field, unknown>>>;

/** A well-formed request of op 4 or 5. */
export interface OrderRequest {
  readonly symbol: string;
  readonly isBuy: boolean;
  readonly size: { readonly by: 'units' | 'amount'; readonly value: number };
  /** Null for a market order. */
  readonly price: number | null;
  /** 0 without a stop-loss. */
  readonly sl: number;
  readonly tp: number;
  /** The loss (`slAmount`) or profit (`tpAmount`) in money at which the position closes; 0 means none. */
  readonly slAmount: number;
  readonly tpAmount: number;
  readonly comment: string;
}

/** The first field that breaks the gateway's interface, and the problem with it. */
interface Malformed {
  readonly field: string;
  readonly problem: string;
}

export type Read<T> =
  | { readonly kind: 'request'; readonly request: T }
  | { readonly kind: 'malformed'; readonly malformed: Malformed };

const MAX_COMMENT_LENGTH = 1_000;
const NUMBER = 'must be a number of at least 0';

/** A rule: the field by the table's name, whether the rule holds, and the message if it does not. */
type Rule = readonly [field: Field, holds: boolean, problem: string];

export function readMarketOrder(sent: unknown, directionField: string): Read<OrderRequest> {
  const body = valuesIn(MARKET_ORDER, sent);
  const isAmount = body.type === 'amount';
  return read(body, sent, directionField, isAmount ? 'amount' : 'units', [
    ['price', isAbsent(body.price) || isNumber(body.price), NUMBER],
    ['type', isAmount || body.type === 'unit', 'must be unit or amount'],
    ...exitRules(body, 'slAmount', 'sl'),
    ...exitRules(body, 'tpAmount', 'tp'),
  ]);
}

export function readLimitOrder(sent: unknown, directionField: string): Read<OrderRequest> {
  const body = valuesIn(LIMIT_ORDER, sent);
  return read(body, sent, directionField, 'amount', [['price', isNumber(body.price), NUMBER]]);
}

function read(
  body: Values,
  sent: unknown,
  directionField: string,
  by: OrderRequest['size']['by'],
  rules: readonly Rule[],
): Read<OrderRequest> {
  const { symbol, comment, amount, price, sl, tp, slAmount, tpAmount } = body;
  const direction = isObject(sent) ? sent[directionField] : undefined;
  const isComment = typeof comment === 'string' && comment.length <= MAX_COMMENT_LENGTH;
  const all: readonly Rule[] = [
    ['symbol', typeof symbol === 'string' && symbol !== '', 'must be a string'],
    ['direction', direction === 'buy' || direction === 'sell', 'must be buy or sell'],
    ['comment', isAbsent(comment) || isComment, `must be a string of up to ${MAX_COMMENT_LENGTH}`],
    ['amount', isNumber(amount), NUMBER],
    ['sl', isAbsent(sl) || isNumber(sl), NUMBER],
    ['tp', isAbsent(tp) || isNumber(tp), NUMBER],
    ...rules,
  ];
  const broken = all.find(([, holds]) => !holds);
  if (broken !== undefined) {
    const [name, , problem] = broken;
    const field = name === 'direction' ? directionField : NAMES[name];
    return { kind: 'malformed', malformed: { field, problem } };
  }
  return {
    kind: 'request',
    request: {
      symbol: String(symbol),
      isBuy: direction === 'buy',
      size: { by, value: Number(amount) },
      price: isAbsent(price) ? null : Number(price),
      sl: Number(sl ?? 0),
      tp: Number(tp ?? 0),
      slAmount: Number(slAmount ?? 0),
      tpAmount: Number(tpAmount ?? 0),
      comment: String(comment ?? ''),
    },
  };
}

/** The rules of a stop-loss or take-profit in money. `priceField` has the same exit as a price. */
function exitRules(body: Values, field: Field, priceField: Field): readonly Rule[] {
  const value = body[field];
  if (isAbsent(value)) return [];
  return [
    [field, isNumber(value), NUMBER],
    [field, body.type === 'amount', 'requires the type amount'],
    [field, isAbsent(body[priceField]), `cannot be combined with ${NAMES[priceField]}`],
  ];
}

function isAbsent(value: unknown): boolean {
  return value === undefined;
}

/** Refuses Infinity, because `JSON.parse` reads 1e999 as Infinity. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
