import type { Kind } from './kinds.ts';

const LONGEST = 120;

/** Quotes a value in a problem: on one line, short, without the password of a URL. */
export function shown(value: string): string {
  const clean = withoutPassword(value);
  return JSON.stringify(clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean);
}

export function withoutPassword(address: string): string {
  return (
    address
      // Up to the last @, since an unencoded password may contain one as well.
      .replace(/^([a-z][a-z\d+.-]*:(?:\/\/)?)?[\s\S]*@/i, '$1***@')
      .replace(/\?[\s\S]*/, '?***')
  );
}

export interface Setting<T> {
  readonly kind: Kind<T>;
  /** The default of an unset variable; null where there is none, or where other settings determine it. */
  readonly fallback: T | null;
  /** The default in words, where the value alone does not show it. */
  readonly fallbackText?: string;
  readonly means: string;
  /** Never shown; may be kept in the file that NAME_FILE names. */
  readonly isSecret?: boolean;
  /** Shown without the password that it may contain; may be kept in a file as well. */
  readonly holdsPassword?: boolean;
}

type Details = Pick<Setting<unknown>, 'fallbackText' | 'isSecret' | 'holdsPassword'>;

/** The type records whether the fallback is null, because the value can then be null too. */
export function setting<T, const F extends T | null>(
  kind: Kind<T>,
  fallback: F,
  means: string,
  details: Details = {},
): Setting<T> & { readonly fallback: F } {
  return { kind, fallback, means, ...details };
}
