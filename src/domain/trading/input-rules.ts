import { InputError } from '../../lib/public-error.ts';
import { keyTimeOf } from '../../store/order-key.ts';

/** An unvalidated input object. Exactly one of its fields must be given. */
export type RawOneOf<Name extends string> = {
  readonly [Field in Name]?: number | null | undefined;
};

/** Refuses NaN as well. */
export function positive(argument: string, value: number): number {
  if (!(value > 0)) throw broken(argument, 'must be greater than 0');
  return value;
}

/** A stop-loss or take-profit level; 0 is allowed, because the gateway gives it a meaning. */
export function level(argument: string, value: number): number {
  if (!(value >= 0)) throw broken(argument, 'must be 0 or greater');
  // -0 is sent as 0, and a repeat with 0 must match it.
  return value === 0 ? 0 : value;
}

/**
 * An absent field means none. An explicit null is refused: JSON writes NaN as null, so a null may stand for a mistyped
 * price, and the order without that price is a different order.
 */
export function optional<Given, Checked>(
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

export function symbol(argument: string, value: string): string {
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
export function exactlyOneOf<Name extends string>(
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
