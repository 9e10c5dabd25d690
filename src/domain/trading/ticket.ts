import { hash } from 'node:crypto';
import type { Side } from '../../gateway/operations/holdings.ts';
import type { Protection } from '../../gateway/operations/open-position.ts';
import type { OrderCall } from '../../gateway/operations.ts';
import { InputError } from '../../lib/public-error.ts';
import { keyTimeOf } from '../../store/order-key.ts';

/** A validated order: the values to send, and the idempotency key to send it under. */
export type Ticket = OrderCall & { readonly idempotencyKey: string };

interface OrderInput {
  readonly symbol: string;
  readonly side: Side;
  readonly comment?: string | null | undefined;
  readonly idempotencyKey: string;
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

/** An unvalidated input object. Exactly one of its fields must be given. */
type RawOneOf<Name extends string> = {
  readonly [Field in Name]?: number | null | undefined;
};

/** Refuses NaN as well. */
function positive(argument: string, value: number): number {
  if (!(value > 0)) throw broken(argument, 'must be greater than 0');
  return value;
}

/** A stop-loss or take-profit level; 0 is allowed, because the gateway gives it a meaning. */
function level(argument: string, value: number): number {
  if (!(value >= 0)) throw broken(argument, 'must be 0 or greater');
  // -0 is sent as 0, and a repeat with 0 must match it.
  return value === 0 ? 0 : value;
}

/**
 * An absent field means none. An explicit null is refused: JSON writes NaN as null, so a null may stand for a mistyped
 * price, and the order without that price is a different order.
 */
function optional<Given, Checked>(
  argument: string,
  value: Given | null | undefined,
  check: (argument: string, value: Given) => Checked,
): Checked | null {
  if (value === undefined) return null;
  if (value === null)
    throw broken(
      argument,
      'must not be null, because JSON writes NaN as null: leave it out for none',
    );
  return check(argument, value);
}

function symbol(argument: string, value: string): string {
  if (value.trim() === '') throw broken(argument, 'must not be empty');
  if (/\p{Cc}/u.test(value)) throw broken(argument, 'must not contain a control character');
  return value;
}

/** A UUID has one value in upper and lower case, so a repeat may have the other case. */
export function idempotencyKey(argument: string, value: string): string {
  const key = value.toLowerCase();
  if (keyTimeOf(key) === null) {
    throw broken(argument, 'must be a key with a time (a UUIDv8): ask `newOrderKey` for one');
  }
  return key;
}

/** GraphQL enforces @oneOf too, but an order is worth a second check. */
function exactlyOneOf<Name extends string>(
  argument: string,
  raw: RawOneOf<Name>,
  names: readonly [Name, Name],
): { by: Name; value: number } {
  const [by, other] = names.filter((name) => raw[name] != null);
  const value = by === undefined ? null : raw[by];
  const isExactlyOne = by !== undefined && value != null && other === undefined;
  if (!isExactlyOne) throw broken(argument, `must have exactly one of ${names.join(' and ')}`);
  return { by, value };
}

export function broken(argument: string, rule: string): InputError {
  return new InputError(argument, `${argument} ${rule}.`);
}
