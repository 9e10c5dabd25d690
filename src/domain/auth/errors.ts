/** The request is not authenticated: its token is missing, expired, unreadable, or was refused here. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}

/** A client exceeded a limit on attempts that applies to it alone. */
export class TooManyAttemptsError extends Error {
  override readonly name = 'TooManyAttemptsError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('too many attempts');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
