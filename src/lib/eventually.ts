/** A value, or the promise of one where it is not there yet: most are, and a promise costs a microtask each. */
export type Eventually<T> = T | Promise<T>;
