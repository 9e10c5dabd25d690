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
