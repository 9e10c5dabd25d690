import { PublicError, type Shown } from '../lib/public-error.ts';
import type { Dates } from './dates.ts';
import type { KeyFault } from './key-rule.ts';
import { type RecordBounds, recordQuota } from './record-shares.ts';

const EARLIER_UNKNOWN =
  'This request was not sent. It is unknown whether an earlier request with its key was sent: ask again with the same key, and use no other.';
/** For a key that is older than the records: no repeat can find out what became of it. */
const KEY_TOO_OLD =
  'This request was not sent. If you have sent this key before, that order may have traded: do not place it again.';
const NEVER_SENT = 'This request was not sent, and no earlier one with its key is recorded.';
const TOO_MANY_ORDERS =
  'This request was not sent: this account has placed too many orders in a day.';

function withoutRecords(message: string, more: Shown['more'] = {}): Shown {
  return { code: 'IDEMPOTENCY_UNAVAILABLE', message, more };
}

/** The store is full or unreachable: the order is not sent, because sending it at most once cannot be guaranteed. */
export class RecordsUnavailableError extends PublicError {
  override readonly name: string = 'RecordsUnavailableError';
  /** Whether an earlier request with this key may have been sent. False if the records were read and do not have the key. */
  readonly earlierUnknown: boolean;

  constructor(message = '', { earlierUnknown = true, ...options }: RecordsErrorOptions = {}) {
    super(message, options);
    this.earlierUnknown = earlierUnknown;
  }

  get shown(): Shown {
    return this.earlierUnknown
      ? withoutRecords(EARLIER_UNKNOWN, { earlierUnknown: true })
      : withoutRecords(NEVER_SENT);
  }
}

type RecordsErrorOptions = ErrorOptions & { readonly earlierUnknown?: boolean };

/** The records do not reach back to when the key was made: an order may have used it. No repeat can change that. */
export class KeyTooOldError extends RecordsUnavailableError {
  override readonly name = 'KeyTooOldError';
  override readonly message = 'the records do not reach back to when the key was made';

  override get shown(): Shown {
    return withoutRecords(KEY_TOO_OLD, { retryable: false, earlierUnknown: true });
  }
}

/** The key has no record, and its time is ahead: a client's clock, or one of this service, is wrong. */
export class KeyAheadError extends RecordsUnavailableError {
  override readonly name = 'KeyAheadError';
  /** The date by which the key was judged. */
  readonly judgedMs: number;

  constructor(judgedMs: number) {
    super('the time of the key is ahead', { earlierUnknown: false });
    this.judgedMs = judgedMs;
  }
}

/** Only this account has reached its maximum of records; others are not affected. */
export class AccountRecordsFullError extends RecordsUnavailableError {
  override readonly name = 'AccountRecordsFullError';

  constructor(bounds: RecordBounds, isNeverSent: boolean) {
    const what = isNeverSent ? 'records of orders that were never sent' : 'order records';
    super(`all ${recordQuota(bounds, isNeverSent)} ${what} of this account are in use`, {
      earlierUnknown: false,
    });
  }

  override get shown(): Shown {
    const more = { limit: 'ORDER_RECORDS_PER_ACCOUNT', retryable: false };
    return withoutRecords(TOO_MANY_ORDERS, more);
  }
}

/** An account's orders cannot be found under a different name of the account. */
export const RENAMED = 'another GATEWAY_FORWARD_HEADERS or GATEWAY_LOGIN_CLAIM names the accounts';
export const FULL = 'all order records are in use';

/** Why a store made no record, or does not know whether there is one. Plain data, so that it crosses threads and scripts. */
export type Refusal =
  | { readonly kind: KeyFault | 'renamed' | 'full' | 'fullAccount' | 'fullOfUnsent' }
  | { readonly kind: 'unusable'; readonly message: string; readonly earlierUnknown: boolean };

/** Ends a task of a store with a refusal as its answer. What the task has written stays. */
export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(kind: Exclude<Refusal['kind'], 'unusable'>) {
    super(kind);
    this.refusal = { kind };
  }
}

/** The error for a refusal by a store with these bounds. */
export function refusalError(refusal: Refusal, bounds: RecordBounds, dates: Dates) {
  switch (refusal.kind) {
    case 'ahead':
      return new KeyAheadError(dates.judgedMs);
    case 'old':
      return new KeyTooOldError();
    case 'unmeasured':
      return new RecordsUnavailableError('the clock of the gateway is not known yet');
    case 'renamed':
      return new RecordsUnavailableError(RENAMED);
    case 'full':
      return new RecordsUnavailableError(FULL, { earlierUnknown: false });
    case 'fullAccount':
    case 'fullOfUnsent':
      return new AccountRecordsFullError(bounds, refusal.kind === 'fullOfUnsent');
    case 'unusable':
      return new RecordsUnavailableError(refusal.message, refusal);
  }
}
