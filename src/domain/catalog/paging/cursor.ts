import { InputError } from '../../../lib/input-error.ts';

/** An instrument's sort values and id: a position in an order. It stays valid in versions without the instrument. */
export type SortKey = readonly (string | number)[];

/** Opaque to clients: the order's name and the sort key. */
export function encodeCursor(order: string, key: SortKey): string {
  // JSON escapes a lone surrogate, which UTF-8 would lose.
  return Buffer.from(JSON.stringify([order, ...key]), 'utf8').toString('base64url');
}

/** A forged cursor only makes the page start elsewhere. */
export function decodeCursor(argument: string, cursor: string, order: string): SortKey {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isOurs = Array.isArray(parts) && parts[0] === order;
    // Comparing a text with a forged object can throw.
    if (isOurs && parts.every((part) => typeof part !== 'object')) return parts.slice(1);
  } catch {
    // It is not JSON.
  }
  throw new InputError(argument, `${argument} is not a cursor of this order and search.`);
}
