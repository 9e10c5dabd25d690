import { unsendable } from '../request/finite-variables.ts';

/**
 * The input as text, the same for equal inputs: fields are sorted, and undefined ones left out. The text is also a copy,
 * which stays the same when the caller's object changes between two attempts.
 */
export function canonicalInput(input: object): string {
  return JSON.stringify(sorted(input, 'input'));
}

// The key is the ticket's; an input object may carry another key.
const NOT_INPUT = 'input.idempotencyKey';

function sorted(value: unknown, path: string): unknown {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value === null) throw unsendable(path, 'must not be null: leave it out for none');
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || Array.isArray(value)) throw unsendable(path);
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, field]) => [name, field, `${path}.${name}`] as const)
      .filter(([, field, fieldPath]) => !isLeftOut(field, fieldPath, value))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field, fieldPath]) => [name, sorted(field, fieldPath)]),
  );
}

/** Whether the field counts as left out. Null counts so only for some fields: elsewhere it may be a mistyped number. */
function isLeftOut(field: unknown, path: string, input: object): boolean {
  if (path === NOT_INPUT) return true;
  if (field !== null) return field === undefined;
  const isMarket = 'kind' in input && input.kind === 'MARKET';
  return path === 'input.comment' || path === 'input.kind' || (path === 'input.price' && isMarket);
}
