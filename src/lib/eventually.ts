/** A value, or a promise of it where it has to be waited for. */
export type Eventually<T> = T | Promise<T>;
