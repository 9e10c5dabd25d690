import type { TradingLimitLabel } from './limits.ts';

/** The request is not authenticated: its token is missing, expired, unreadable, or was refused here. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
  readonly fault: TokenFault;

  constructor(message: string, fault: TokenFault = 'other') {
    super(message);
    this.fault = fault;
  }
}

/** The key set may be older than the token's key: its next reading decides. Null: that time is unknown. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
  readonly retryAfterSeconds: number | null;

  constructor(retryAfterSeconds: number | null) {
    super('the key set lacks the key of the token');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The setting that can be the cause of a refused token: the name of the login's claim, or the key. */
type TokenFault = 'login' | 'key' | 'other';

/** Neither the token nor its account's snapshot names a group, so there is no catalog to read. */
export class NoGroupError extends Error {
  override readonly name = 'NoGroupError';

  constructor() {
    super('the account belongs to no group that the gateway names');
  }
}

/** A client exceeded its own limit on attempts. */
export class TooManyAttemptsError extends Error {
  override readonly name = 'TooManyAttemptsError';
  readonly retryAfterSeconds: number;
  /** The limit's name for operators. */
  readonly limit: TradingLimitLabel;

  constructor(retryAfterSeconds: number, limit: TradingLimitLabel) {
    super('too many attempts');
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
