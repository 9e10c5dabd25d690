/** Spread into a type or a field whose lists have an entry for each instrument. */
export const perInstrument = { listSize: 'instruments' } as const;

/** The size to assume of a catalog before any is in memory. */
const USUAL_CATALOG = 1_000;

/** The number of entries that the cost of a list `perInstrument` is estimated by. */
export function catalogSize(catalogs: { readonly heldSize: number }): number {
  return catalogs.heldSize || USUAL_CATALOG;
}
