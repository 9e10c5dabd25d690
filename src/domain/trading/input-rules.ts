import { InputError } from '../../lib/input-error.ts';

/** An input object of which exactly one field must be given, before validation. */
export type RawOneOf<Name extends string> = {
  readonly [Field in Name]?: number | null | undefined;
};

const MAX_KEY_LENGTH = 255;

/** NaN is not greater than 0 either. */
export function positive(argument: string, value: number): number {
  if (!(value > 0)) throw broken(argument, 'must be greater than 0');
  return value;
}

/** A stop-loss or take-profit level; 0 is allowed, because the gateway gives it a meaning. */
export function level(argument: string, value: number): number {
  if (!(value >= 0)) throw broken(argument, 'must be 0 or greater');
  // -0 is 0 on the wire, and must equal it in a repeat.
  return value === 0 ? 0 : value;
}

/**
 * A field that is left out counts as none. An explicit null is refused: JSON writes NaN as null, so it may stand for a
 * price that was mistyped, and an order without it would be another order.
 */
export function optional<Given, Checked>(
  argument: string,
  value: Given | null | undefined,
  check: (argument: string, value: Given) => Checked,
): Checked | null {
  if (value === undefined) return null;
  if (value === null)
    throw broken(argument, 'must not be null, as which JSON writes NaN: leave it out for none');
  return check(argument, value);
}

export function symbol(argument: string, value: string): string {
  if (value.trim() === '') throw broken(argument, 'must not be empty');
  if (/\p{Cc}/u.test(value)) throw broken(argument, 'must not contain a control character');
  return value;
}

export function idempotencyKey(argument: string, value: string): string {
  const { length } = [...value];
  if (length < 1 || length > MAX_KEY_LENGTH) {
    throw broken(argument, `must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  // Half a surrogate pair has no UTF-8: written to a store, two such keys would become one.
  if (!value.isWellFormed()) throw broken(argument, 'must be well-formed Unicode');
  // Some versions of Node read a text of SQLite up to it alone.
  if (value.includes('\0')) throw broken(argument, 'must not contain U+0000');
  return value;
}

/** GraphQL enforces @oneOf too; an order is worth checking twice. */
export function exactlyOneOf<Name extends string>(
  argument: string,
  raw: RawOneOf<Name>,
  names: readonly [Name, Name],
): { by: Name; value: number } {
  const [by, other] = names.filter((name) => raw[name] != null);
  const value = by && raw[by];
  if (by === undefined || value == null || other !== undefined) {
    throw broken(argument, `must have exactly one of ${names.join(' and ')}`);
  }
  return { by, value };
}

export function broken(argument: string, rule: string): InputError {
  return new InputError(argument, `${argument} ${rule}.`);
}
