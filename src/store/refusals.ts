import type { Dates } from './dates.ts';
import type { KeyFault } from './key-rule.ts';
import { type RecordBounds, recordQuota } from './record-shares.ts';

/** The store is full or unreachable: the order is not sent, because sending it at most once cannot be guaranteed. */
export class RecordsUnavailableError extends Error {
  override readonly name: string = 'RecordsUnavailableError';
  /** Whether an earlier request with this key may have been sent. False if the records were read and do not have the key. */
  readonly earlierUnknown: boolean;

  constructor(message?: string, { earlierUnknown = true, ...options }: RecordsErrorOptions = {}) {
    super(message, options);
    this.earlierUnknown = earlierUnknown;
  }
}

type RecordsErrorOptions = ErrorOptions & { readonly earlierUnknown?: boolean };

/** The records do not reach back to when the key was made: an order may have used it. No repeat can change that. */
export class KeyTooOldError extends RecordsUnavailableError {
  override readonly name = 'KeyTooOldError';
  override readonly message = 'the records do not reach back to when the key was made';
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
}

/** An account's orders cannot be found under a different name of the account. */
export const RENAMED = 'another GATEWAY_FORWARD_HEADERS or GATEWAY_LOGIN_CLAIM names the accounts';
export const FULL = 'all order records are in use';

/** Why a store made no record, or does not know whether there is one. Plain data, so that it crosses threads and scripts. */
export type Refusal =
  | { readonly kind: KeyFault | 'renamed' | 'full' | 'fullAccount' | 'fullOfUnsent' }
  | { readonly kind: 'unusable'; readonly message: string; readonly earlierUnknown: boolean };

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
