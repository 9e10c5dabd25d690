import { InputError } from '../../../lib/input-error.ts';

/** The sort values of an instrument and its id. They name a position that later versions keep, even without the instrument. */
export type SortKey = readonly (string | number)[];

/** Opaque to clients: the order's name and the sort key. */
export function encodeCursor(order: string, key: SortKey): string {
  // JSON escapes a lone surrogate, which UTF-8 would lose.
  return Buffer.from(JSON.stringify([order, ...key]), 'utf8').toString('base64url');
}

/** A forged cursor only makes the page start elsewhere. */
export function decodeCursor(argument: string, cursor: string, order: string): SortKey {
  const [name, ...key] = parse(cursor);
  const isOurs = typeof name === 'string' && key.every(isSortValue);
  if (!isOurs) throw new InputError(argument, `${argument} is no cursor of this service.`);
  if (name !== order) {
    throw new InputError(argument, `${argument} is a cursor of another order or another search.`);
  }
  return key;
}

function isSortValue(part: unknown): part is string | number {
  return typeof part === 'string' || typeof part === 'number';
}

function parse(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
