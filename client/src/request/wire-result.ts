import type { Result } from '../result.ts';
import { serverError } from './failures.ts';

/** The value of a text; null if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The answer in a body. A body of another form has neither data nor errors. */
export function resultOf(
  body: unknown,
  requestId: string | null = null,
  retryAfter: number | null = null,
): Result<unknown> {
  const { data, errors }: { data?: unknown; errors?: unknown } = Object(body);
  const own = Array.isArray(errors) ? errors : [];
  return {
    data: data ?? null,
    errors: own.map((error) => serverError(error, requestId, retryAfter)),
  };
}
