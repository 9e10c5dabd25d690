import { reasonOf } from '../lib/reason-of.ts';

/** The store that was named cannot be used as it is; the message says why, on one line. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

// SQLite's primary result codes; its own words for them speak to programmers.
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  3: 'permission denied',
  5: 'another process holds it',
  6: 'another process holds it',
  8: 'it may only be read',
  10: 'the disk fails',
  11: 'the file is damaged',
  13: 'the disk is full',
  14: 'it cannot be opened',
  26: 'the file is something else, or damaged',
};

/** Whatever a store threw when it was opened, as a sentence for the operator. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(sqliteReason(error) ?? reasonOf(error), { cause: error });
}

function sqliteReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  // The upper bytes hold an extended code.
  return SQLITE_REASONS[Number(error.errcode) & 0xff];
}
