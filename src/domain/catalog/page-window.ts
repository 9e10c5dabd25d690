import { InputError } from '../input-error.ts';

export interface PageArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

/** The requested part of a list: so many items after a cursor, or so many before one. */
export interface PageWindow {
  readonly backward: boolean;
  readonly count: number;
  readonly cursor: string | null;
  /** The name of the cursor's argument. */
  readonly argument: 'after' | 'before';
}

const DEFAULT_COUNT = 50;
const MOST = 500;

export function toWindow({ first, after, last, before }: PageArguments): PageWindow {
  const backward = last != null || before != null;
  if (backward && (first != null || after != null)) {
    const argument = last != null ? 'last' : 'before';
    throw new InputError(
      argument,
      `${argument} does not go with first or after: a page runs in one direction.`,
    );
  }
  if (backward) {
    return { backward, count: count('last', last), cursor: before ?? null, argument: 'before' };
  }
  return { backward, count: count('first', first), cursor: after ?? null, argument: 'after' };
}

function count(argument: string, value: number | null | undefined): number {
  const wanted = value ?? DEFAULT_COUNT;
  if (wanted < 0 || wanted > MOST) {
    throw new InputError(argument, `${argument} must be between 0 and ${MOST}.`);
  }
  return wanted;
}
