import { traits } from './traits.ts';

/**
 * Spread into an argument that limits the age of a read which several fields of an operation share:
 * the lowest value counts for all of them. It stands at fields of the root, where the operation is
 * searched for it before any of them is resolved.
 */
export const ageLimit = traits({ isAgeLimit: true });
