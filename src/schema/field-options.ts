import type { ReadOperation } from '../gateway/define-operation.ts';
import type { ReadName } from '../gateway/operations.ts';
import { traits } from '../lib/field-traits.ts';
import { InputError } from '../lib/public-error.ts';
import type { Context } from './context.ts';
import type { AccountRead, Scope } from './scope.ts';

/** Options of a field that is never null, as in `t.exposeFloat('min', nonNull('…'))`. */
export function nonNull<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: false, description } as const;
}

/** Options of a field that may be null. */
export function nullable<const Traits extends object>(description: string, of?: Traits) {
  return { ...of, nullable: true, description } as const;
}

/** Spread into a type or a field whose lists have an entry for each instrument. */
export const perInstrument = { listSize: 'instruments' } as const;

/** The assumed size of a catalog until one is in memory. */
const USUAL_CATALOG = 1_000;

/** The number of entries used to estimate the cost of a list `perInstrument`. */
export function catalogSize(catalogs: { readonly largestSize: number }): number {
  return catalogs.largestSize || USUAL_CATALOG;
}

/** Spread into a field's options. If a field lacks it, a document can cost one more gateway call. */
export function reads(read: AccountRead) {
  return traits({ reads: read });
}

/** Spread into the options of a field that returns a read of its scope. */
export function ownRead<T>(name: AccountRead, read: (scope: Scope) => T) {
  const resolve = (_source: unknown, _args: unknown, { scope }: Context) => read(scope);
  return { ...reads(name), nullable: true, resolve } as const;
}

/** Spread into the options of a field that returns the gateway's answer to a read. */
export function answerOf<T>(operation: ReadOperation<undefined, T> & { readonly name: ReadName }) {
  return ownRead(operation.name, (scope) => scope.read(operation));
}

/**
 * Options of an argument that limits the age of the snapshot: the lowest value counts for all fields of an operation. Only
 * fields of the root may have it, because the operation is searched for it before any field is resolved.
 */
export function ageLimit(description: string) {
  return { ...traits({ isAgeLimit: true }), description } as const;
}

/** Refuses a negative age. Only the field with the argument fails. */
export function checkAge(maxAge: number | null | undefined): void {
  if (typeof maxAge === 'number' && maxAge < 0) {
    throw new InputError('maxAge', 'maxAge must be 0 or more seconds.');
  }
}
