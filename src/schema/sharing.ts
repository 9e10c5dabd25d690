import type { Sharing } from '../lib/field-traits.ts';
import { traits } from '../lib/field-traits.ts';

/**
 * A trait of a field: the audience that sees the same value.
 *
 * - `group`: every user of the group whose catalog has this version.
 * - `copy`: also belongs to the catalog, but differs between copies of one version, or with time.
 * - `account`: every subscriber to the account that receives this event.
 *
 * A field without a mark counts as the viewer's own, and an operation that selects it is executed for each viewer. Mark a
 * field only if its resolver reads nothing but its source, its arguments and, for `group` and `copy`, the catalog of the
 * scope. Mark each field by itself, or in a helper that only reads a property of the source. Never mark a whole type, or a
 * field that is added later would inherit the mark.
 */
export type Mark = ReturnType<typeof mark>;

/** Spread into a field's options, as in `t.field({ ...perGroup, resolve: … })`. */
export const perGroup = mark('group');
export const perCopy = mark('copy');
export const perAccount = mark('account');

/** Options of a field that is never null, as in `t.exposeFloat('min', nonNull(perGroup, '…'))`. */
export function nonNull<const Traits extends object>(of: Traits, description: string) {
  return { ...of, nullable: false, description } as const;
}

/** Options of a field that may be null. */
export function nullable<const Traits extends object>(of: Traits, description: string) {
  return { ...of, nullable: true, description } as const;
}

function mark(sharing: Sharing) {
  return traits({ sharing });
}
