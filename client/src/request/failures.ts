import { TradingGraphError } from '../errors.ts';

/** An error in an answer. Every property has to be checked, because a proxy may have answered. */
export interface WireError {
  readonly message?: unknown;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

/** The server's error in the client's form. */
export function serverError(
  error: unknown,
  requestId: string | null,
  retryAfterHeader: number | null = null,
): TradingGraphError {
  const { message, path, extensions } = (isObject(error) ? error : {}) as WireError;
  const details = extensions ?? {};
  const { code, retryable, retryAfter } = details;
  return new TradingGraphError(
    typeof message === 'string' ? message : 'The server reports an error.',
    {
      code: typeof code === 'string' ? code : 'INTERNAL',
      retryable: retryable === true,
      retryAfter: typeof retryAfter === 'number' ? retryAfter : retryAfterHeader,
      requestId: typeof details.requestId === 'string' ? details.requestId : requestId,
      path: Array.isArray(path) ? path : null,
      extensions: details,
    },
  );
}

export function networkError(message: string, cause?: unknown): TradingGraphError {
  return new TradingGraphError(message, { code: 'NETWORK', retryable: true, cause });
}

/** The error of a request that got no answer in time. It says less than any answer. */
export function lateError(cause?: unknown, message = 'No answer came in time.'): TradingGraphError {
  const details = { code: 'NETWORK', retryable: true, extensions: { late: true }, cause };
  return new TradingGraphError(message, details);
}

export function isLate({ extensions }: TradingGraphError): boolean {
  return extensions.late === true;
}

export function offlineError(cause?: unknown): TradingGraphError {
  return networkError('This device is offline.', cause);
}

/** Why a request failed, as far as the platform says it. A browser gives the same error for CORS and for a lost network. */
export function unreachableError(url: string, cause: unknown): TradingGraphError {
  const page = globalThis.location?.origin;
  const isForeign = page !== undefined && !url.startsWith(`${page}/`);
  const why = isForeign ? `, or does not allow pages of ${page} (its CORS_ORIGINS)` : '';
  return networkError(`The server cannot be reached${why}.`, cause);
}

export function protocolError(
  message: string,
  details: { readonly requestId?: string | null; readonly cause?: unknown } = {},
): TradingGraphError {
  return new TradingGraphError(message, { code: 'PROTOCOL', retryable: false, ...details });
}

export function storageError(message: string, cause: unknown): TradingGraphError {
  return new TradingGraphError(message, { code: 'STORAGE', retryable: true, cause });
}

export function signedOutError(message = 'Nobody is signed in.'): TradingGraphError {
  return new TradingGraphError(message, { code: 'SIGNED_OUT', retryable: false });
}

export function disposedError(): TradingGraphError {
  return new TradingGraphError('The client was disposed.', { code: 'DISPOSED', retryable: false });
}

export function abortedError(): TradingGraphError {
  return new TradingGraphError('The request was aborted.', { code: 'ABORTED', retryable: false });
}

/** Converts a thrown value to a TradingGraphError. */
export function asTradingGraphError(thrown: unknown): TradingGraphError {
  if (thrown instanceof TradingGraphError) return thrown;
  return networkError(messageOf(thrown), thrown);
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'The request failed.';
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
