import { TradingGraphError } from '../errors.ts';

/**
 * The variables as JSON writes them now, since the caller's object may change before they leave. Throws where it cannot, and where
 * a number is not finite: it would be written as null, which says something else than was meant.
 */
export function sentVariables(variables: unknown): unknown {
  if (variables === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(variables);
  } catch (thrown) {
    throw unsendable('variables', `cannot be written as JSON: ${(thrown as Error).message}`);
  }
  if (text === undefined) throw unsendable('variables', `cannot be a ${typeof variables}`);
  walk(variables, '');
  return JSON.parse(text);
}

function walk(given: unknown, path: string): void {
  const value = written(given);
  if (typeof value === 'number' && !Number.isFinite(value)) throw unsendable(path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const dot = path === '' ? name : `${path}.${name}`;
    walk(member, Array.isArray(value) ? `${path}[${name}]` : dot);
  }
}

/** Returns the value that JSON writes: an object may have a form of its own for it. */
function written(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON();
  return value instanceof Number ? value.valueOf() : value;
}

/** An input that cannot be sent as it is, by the path of its part. */
export function unsendable(argument: string, why = 'cannot be sent as it is'): TradingGraphError {
  return new TradingGraphError(`${argument} ${why}`, {
    code: 'BAD_USER_INPUT',
    retryable: false,
    extensions: { argument },
  });
}
