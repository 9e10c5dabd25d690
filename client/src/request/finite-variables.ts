import { TradingGraphError } from '../errors.ts';

/**
 * The variables as JSON at this moment, because the caller's object may change before they are sent. Throws if JSON cannot
 * write them, and for a number that is not finite, which JSON would turn into null.
 */
export function sentVariables(variables: unknown): unknown {
  if (variables === undefined) return undefined;
  const paths = new Map<unknown, string>();
  let text: string | undefined;
  try {
    text = JSON.stringify(variables, function (this: object, name, value: unknown) {
      const parent = paths.get(this) ?? '';
      const prefix = parent && `${parent}.`;
      const path = Array.isArray(this) ? `${parent}[${name}]` : `${prefix}${name}`;
      if (Object(value) === value) paths.set(value, path);
      const number = value instanceof Number ? value.valueOf() : value;
      if (typeof number === 'number' && !Number.isFinite(number)) throw unsendable(path);
      return value;
    });
  } catch (thrown) {
    if (thrown instanceof TradingGraphError) throw thrown;
    throw unsendable('variables', `cannot be written as JSON: ${(thrown as Error).message}`);
  }
  if (text === undefined) throw unsendable('variables', `cannot be a ${typeof variables}`);
  return JSON.parse(text);
}

/** The error for an input that cannot be sent, with the path of its part. */
export function unsendable(argument: string, why = 'cannot be sent as it is'): TradingGraphError {
  return new TradingGraphError(`${argument} ${why}`, {
    code: 'BAD_USER_INPUT',
    retryable: false,
    extensions: { argument },
  });
}
