import { reasonOf } from '../lib/reason-of.ts';

/** The store that was named cannot be used as it is; the message says why, on one line. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Describes an error of opening a store as a sentence for the operator. */
export function toStoreError(error: unknown): StoreError {
  return new StoreError(reasonOf(error), { cause: error });
}
