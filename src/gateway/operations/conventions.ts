import { isObject } from '../../lib/json.ts';
import { type Row, text } from '../scalars.ts';

/** What the operations have in common on the wire, for the client and the sandbox. */

/** The header of a user's token, in lower case. */
export const TOKEN_HEADER = 'authorization';

/** What precedes the token in that header. */
export const BEFORE_TOKEN = 'Bearer ';

/** The token in that header; null without one. */
export function tokenIn(header: string | readonly string[] | undefined): string | null {
  const isBearer = typeof header === 'string' && /^Bearer /i.test(header);
  return isBearer ? header.slice(BEFORE_TOKEN.length) : null;
}

/** The field by which the answer to an order, a refusal too, reports whether it was a success. */
export const VERDICT = 'success';

/**
 * The shapes of the error bodies: `{error, message, details}`, `{error, message}`, `{message}`, or an order's `{success, err,
 * message}`. A sign-in also answers `{error, ok}`, even with a 200, and its 401 and 403 are about the input.
 */
export type ErrorShape = 'details' | 'plain' | 'message' | 'submit' | 'sign-in';

interface ErrorBody {
  readonly error: string;
  readonly message?: string;
  readonly details?: Row;
  /** The address that a sign-in refuses. */
  readonly email?: string;
}

/** The texts of an error body in any of these shapes; a missing property is null. */
export function readError(body: unknown) {
  const row = isObject(body) ? body : {};
  return {
    error: text(row.error),
    message: text(row.message),
    email: text(row.email),
    details: isObject(row.details) ? row.details : null,
  };
}

/** The error body that the sandbox answers. */
export function errorBody(shape: ErrorShape, { error, message, details, email }: ErrorBody): Row {
  switch (shape) {
    case 'message':
      return { message };
    case 'submit':
      return { [VERDICT]: false, err: error, message };
    case 'plain':
      return { error, message };
    case 'details':
      return { error, message, details };
    case 'sign-in':
      return { error, message, details, email, ok: false };
  }
}
