import type { TradingGraphError } from './errors.ts';
import type { Result } from './result.ts';

/** An error as GraphQL over HTTP has it. */
export interface FormattedError {
  message: string;
  path?: (string | number)[];
  extensions: Record<string, unknown>;
}

/** An answer as the networks of other GraphQL clients take it. */
export interface ExecutionResult<Data> {
  data: Data;
  errors?: FormattedError[];
}

/** Returns an answer in the form that other GraphQL clients take. Throws its first error if it has no data. */
export function executionResult<Data>({ data, errors }: Result<Data>): ExecutionResult<Data> {
  if (data === null) throw errors[0] ?? new TypeError('An answer has data or an error');
  return errors.length === 0 ? { data } : { data, errors: errors.map(formattedError) };
}

/** The server's error with all its extensions, and with the request id that the server's log has. */
export function formattedError(error: TradingGraphError): FormattedError {
  const { message, path, code, retryable, retryAfter, requestId, extensions } = error;
  return {
    message,
    ...(path !== null && { path: [...path] }),
    extensions: {
      ...(requestId !== null && { requestId }),
      ...(retryAfter !== null && { retryAfter }),
      ...extensions,
      code,
      retryable,
    },
  };
}
