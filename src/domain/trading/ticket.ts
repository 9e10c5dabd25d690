import { hash } from 'node:crypto';
import type { Side } from '../../gateway/operations/holdings.ts';
import type { Protection } from '../../gateway/operations/open-position.ts';
import type { OrderCall } from '../../gateway/operations.ts';
import {
  broken,
  exactlyOneOf,
  idempotencyKey,
  level,
  optional,
  positive,
  type RawOneOf,
  symbol,
} from './input-rules.ts';

/** A validated order: the values to send, and the idempotency key to send it under. */
export type Ticket = OrderCall & { readonly idempotencyKey: string };

interface OrderInput {
  readonly symbol: string;
  readonly side: Side;
  readonly comment?: string | null | undefined;
  readonly idempotencyKey: string;
  /** Milliseconds since the epoch. */
  readonly sendBefore?: number | null | undefined;
}

export interface PlaceOrderInput extends OrderInput {
  readonly size: RawOneOf<'units' | 'amount'>;
  readonly kind: 'MARKET' | 'PENDING';
  readonly price?: number | null | undefined;
  readonly stopLoss?: RawOneOf<'price' | 'amount'> | null | undefined;
  readonly takeProfit?: RawOneOf<'price' | 'amount'> | null | undefined;
}

export interface PlaceLimitOrderInput extends OrderInput {
  readonly amount: number;
  readonly price: number;
  readonly stopLoss?: number | null | undefined;
  readonly takeProfit?: number | null | undefined;
}

/** The ticket of op 4. Throws an InputError that names the first invalid value. */
export function marketTicket(input: PlaceOrderInput): Ticket {
  const size = exactlyOneOf('input.size', input.size, ['units', 'amount']);
  return {
    operation: 'openPosition',
    ...keyAndDeadline(input),
    order: {
      symbol: symbol('input.symbol', input.symbol),
      side: input.side,
      size: { by: size.by, value: positive(`input.size.${size.by}`, size.value) },
      price: triggerPrice(input),
      stopLoss: protection('input.stopLoss', input.stopLoss, size.by),
      takeProfit: protection('input.takeProfit', input.takeProfit, size.by),
      comment: input.comment ?? null,
    },
  };
}

/** The ticket of op 5. Throws an InputError that names the first invalid value. */
export function limitTicket(input: PlaceLimitOrderInput): Ticket {
  return {
    operation: 'placeLimitOrder',
    ...keyAndDeadline(input),
    order: {
      symbol: symbol('input.symbol', input.symbol),
      side: input.side,
      amount: positive('input.amount', input.amount),
      price: positive('input.price', input.price),
      stopLoss: optional('input.stopLoss', input.stopLoss, level),
      takeProfit: optional('input.takeProfit', input.takeProfit, level),
      comment: input.comment ?? null,
    },
  };
}

function keyAndDeadline(input: OrderInput) {
  return {
    idempotencyKey: idempotencyKey('input.idempotencyKey', input.idempotencyKey),
    // JSON writes an invalid date as null. Without its deadline the order would be a different one, so null is refused.
    sendBeforeMs: optional('input.sendBefore', input.sendBefore, (_, ms) => ms),
  };
}

/**
 * The digest that identifies a repeat: equal for tickets that request the same order. Numbers compare by value, absent
 * values are null, and the list fixes the order of the fields. `kind` is left out, because it follows from the price;
 * `sendBefore`, because each attempt may have a different one.
 */
export function inputDigest(ticket: Ticket): string {
  const { operation } = ticket;
  const { symbol, side, price, stopLoss, takeProfit, comment } = ticket.order;
  const size =
    ticket.operation === 'openPosition'
      ? [ticket.order.size.by, ticket.order.size.value]
      : ['amount', ticket.order.amount];
  const levels = [stopLoss, takeProfit].map((level) =>
    level !== null && typeof level === 'object' ? [level.by, level.value] : level,
  );
  // With a digest, the size of a record does not depend on the comment.
  const text = JSON.stringify([operation, symbol, side, ...size, price, ...levels, comment]);
  return hash('sha256', text, 'hex');
}

/** Null if the order is executed at the market. */
function triggerPrice({ kind, price }: PlaceOrderInput): number | null {
  const argument = 'input.price';
  if (kind === 'MARKET') {
    // A null price agrees with MARKET.
    if (price == null) return null;
    throw broken(argument, 'does not go with kind MARKET, which is executed at once');
  }
  if (price == null) throw broken(argument, 'must be given with kind PENDING, which waits for it');
  // The gateway may read 0 as "no price" and trade immediately, so 0 is refused.
  return positive(argument, price);
}

function protection(
  argument: string,
  raw: RawOneOf<'price' | 'amount'> | null | undefined,
  sizeBy: 'units' | 'amount',
): Protection | null {
  return optional(argument, raw, (_, given) => {
    const { by, value } = exactlyOneOf(argument, given, ['price', 'amount']);
    const checked = level(`${argument}.${by}`, value);
    if (by === 'amount' && sizeBy !== 'amount') {
      throw broken(`${argument}.amount`, 'goes only with a size that is an amount');
    }
    return { by, value: checked };
  });
}
