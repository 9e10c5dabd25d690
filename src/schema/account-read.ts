import { traits } from '../../engine/field-traits.ts';
import { InputError } from '../domain/input-error.ts';
import type { ReadName } from '../gateway/operations.ts';

/**
 * What a field reads of the account: a list, the snapshot, the `rows` of the snapshot's positions, which are not cached with
 * it, or for a feed its `snapshots`. A read that needs nothing but its viewer is called by its operation.
 */
export type AccountRead = 'positions' | 'orders' | 'session' | 'rows' | 'snapshots' | ReadName;

/** Spread into a field's options: without it a document may cost one call more. */
export function reads(read: AccountRead) {
  return traits({ reads: read });
}

/**
 * Spread into an argument that limits the age of the snapshot: the lowest value counts for all of an operation's fields.
 * It stands at fields of the root, where the operation is searched for it before any of them is resolved.
 */
export const ageLimit = traits({ isAgeLimit: true });

/** An age that is refused by its own field alone. */
export function checkAge(maxAge: number | null | undefined): void {
  if (typeof maxAge === 'number' && maxAge < 0) {
    throw new InputError('maxAge', 'maxAge must be 0 or more seconds.');
  }
}
