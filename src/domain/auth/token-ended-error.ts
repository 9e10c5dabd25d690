import { GatewayError } from '../../gateway/errors.ts';
import { EXPIRY_LEEWAY_MS } from './claims.ts';
import { UnauthenticatedError } from './errors.ts';

/** The token of a subscription is no longer valid: it expired, or the gateway refused it. */
export class TokenEndedError extends Error {
  override readonly name = 'TokenEndedError';
  readonly code: 'UNAUTHENTICATED' | 'FORBIDDEN';

  /** `cause` is the gateway's refusal, if there was one. */
  constructor(code: 'UNAUTHENTICATED' | 'FORBIDDEN', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
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

/** The end of a token by its claims. One that is used after its expiry is valid until the leeway is over. */
export function endOfToken(expiresAtMs: number, nowMs: number) {
  const endsAtMs = nowMs < expiresAtMs ? expiresAtMs : expiresAtMs + EXPIRY_LEEWAY_MS;
  return {
    inMs: endsAtMs - nowMs,
    error: new TokenEndedError('UNAUTHENTICATED', 'the token has expired'),
  };
}
