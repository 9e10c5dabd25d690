import type { Kind } from './kinds.ts';

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** What holds where the variable is unset: a value, or null where there is none or others decide. */
  readonly fallback: T | null;
  /** The default in words, where the value alone does not say it. */
  readonly fallbackText?: string;
  readonly means: string;
  /** Never shown; may be kept in the file that NAME_FILE names. */
  readonly isSecret?: boolean;
  /** Shown without the password it may hold; may be kept in a file as well. */
  readonly holdsPassword?: boolean;
}

/** Keeps in the type whether the fallback is null: then the value can be null too. */
export function setting<T, const F extends T | null>(
  entry: Omit<Setting<T>, 'fallback'> & { readonly fallback: F },
): Setting<T> & { readonly fallback: F } {
  return entry;
}

export const unset = { fallback: null, fallbackText: 'unset' };
