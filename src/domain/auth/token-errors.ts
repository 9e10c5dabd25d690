import { GatewayError } from '../../gateway/gateway-error.ts';
import { PublicError, type Shown } from '../../lib/public-error.ts';

/** The request is not authenticated: its token is missing, expired, unreadable, or was refused here. */
export class UnauthenticatedError extends PublicError {
  override readonly name = 'UnauthenticatedError';
  readonly fault: TokenFault;

  constructor(message: string, fault: TokenFault = 'other') {
    super(message);
    this.fault = fault;
  }

  get shown(): Shown {
    return { code: 'UNAUTHENTICATED', message: `Sign in: ${this.message}.` };
  }
}

/** The key set may be older than the token's key: its next reading decides. Null: that time is unknown. */
export class UnknownKeyError extends PublicError {
  override readonly name = 'UnknownKeyError';
  readonly retryAfterSeconds: number | null;

  constructor(retryAfterSeconds: number | null) {
    super('the key set lacks the key of the token');
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get shown(): Shown {
    const { retryAfterSeconds: retryAfter } = this;
    const message = 'The key of the token is not known yet: try again.';
    const more = retryAfter === null ? {} : { retryAfter };
    return { code: 'GATEWAY_UNAVAILABLE', message, more };
  }
}

/** The setting that can be the cause of a refused token: the name of the login's claim, or the key. */
type TokenFault = 'login' | 'key' | 'other';

/** Neither the token nor its account's snapshot names a group, so there is no catalog to read. */
export class NoGroupError extends PublicError {
  override readonly name = 'NoGroupError';

  constructor() {
    super('the account belongs to no group that the gateway names');
  }

  get shown(): Shown {
    return { code: 'FORBIDDEN', message: 'This account has no catalog.' };
  }
}

/** The token of a subscription is no longer valid: it expired, or the gateway refused it. */
export class TokenEndedError extends PublicError {
  override readonly name = 'TokenEndedError';
  readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN';

  /** `cause` is the gateway's refusal, if there was one. */
  constructor(code: 'UNAUTHENTICATED' | 'FORBIDDEN', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  get shown(): Shown {
    const { cause, code } = this;
    // The gateway may give a reason, such as a restricted account, which the user must see.
    if (cause instanceof GatewayError) return cause.shown;
    const isForbidden = code === 'FORBIDDEN';
    const message = isForbidden ? 'The gateway does not allow this.' : 'Sign in again.';
    return { code, message };
  }
}

/** Null if the failure is not about the token. */
export function tokenEndBehind(error: unknown): TokenEndedError | null {
  if (error instanceof UnauthenticatedError) {
    return new TokenEndedError('UNAUTHENTICATED', error.message, error);
  }
  if (!(error instanceof GatewayError)) return null;
  if (error.kind === 'unauthenticated') {
    return new TokenEndedError('UNAUTHENTICATED', 'the gateway refused the token', error);
  }
  if (error.kind !== 'forbidden') return null;
  return new TokenEndedError('FORBIDDEN', 'the gateway forbids the token this account', error);
}

// A clock that differs a little from the issuer's must not lock users out.
export const EXPIRY_LEEWAY_MS = 30_000;
