import { errorBody } from '../gateway/operations/conventions.ts';
import { OPERATIONS, type OperationName } from '../gateway/operations.ts';
import type { Context, Handler, UserCall } from './call.ts';
import { json, type Reply } from './http.ts';
import { findUserByLogin } from './users.ts';

/** Refuses a call in the format that the gateway's interface gives this operation's errors. */
export function refuse(
  operation: OperationName,
  status: number,
  error: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): Reply {
  const { errors } = OPERATIONS[operation];
  return json(status, errorBody(errors, { error, message, details }));
}

export function unauthorized(operation: OperationName): Reply {
  return refuse(operation, 401, 'UNAUTHORIZED', 'The access token is missing or not valid.');
}

export function malformed(operation: OperationName, field: string, problem: string): Reply {
  const message = `${field} ${problem}`;
  return refuse(operation, 400, 'VALIDATION_FAILED', message, { field, problem });
}

/** Wraps an operation that needs a token. A call without a valid token gets a 401; one with another user's path, a 403. */
export function authenticated(
  handle: (call: UserCall, context: Context) => Reply | Promise<Reply>,
): Handler {
  return (call, context) => {
    const user = call.claims && findUserByLogin(call.claims.login);
    if (!user) return unauthorized(call.operation);
    const { login = String(user.login), group = user.group } = call.params;
    if (login !== String(user.login) || group !== user.group) {
      const message = 'The path names another login or group than the token has.';
      return refuse(call.operation, 403, 'FORBIDDEN', message, call.params);
    }
    return handle({ ...call, user }, context);
  };
}
