import type { FieldTraits } from '../../engine/field-traits.ts';

/** Spread into the options of a field, an argument or a type: one that is misspelt does not compile. */
export function traits<const Traits extends FieldTraits>(
  extensions: Traits & Record<Exclude<keyof Traits, keyof FieldTraits>, never>,
) {
  return { extensions } as const;
}
