/** Somebody tries too often; others are not concerned. */
export class TooManyAttemptsError extends Error {
  override readonly name = 'TooManyAttemptsError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('too many attempts');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
