import { TradingGraphError } from '../errors.ts';

/**
 * The input as text, the same for equal inputs: fields sorted, those that are null left out. Being text, it is also
 * a copy, which stays what it is when the caller's object changes between two attempts.
 */
export function canonicalInput(input: object): string {
  return JSON.stringify(sorted(input, 'input'));
}

function sorted(value: unknown, path: string): unknown {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  // JSON writes NaN as null, which would turn an order that waits for its price into one that trades at once.
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TradingGraphError(`${path} cannot be sent as it is`, {
      code: 'BAD_USER_INPUT',
      retryable: false,
      extensions: { argument: path },
    });
  }
  return Object.fromEntries(
    Object.entries(value)
      // The key belongs to the ticket, whatever else an object that came from elsewhere carries.
      .filter(([name, field]) => field != null && !(path === 'input' && name === 'idempotencyKey'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field, `${path}.${name}`)]),
  );
}
