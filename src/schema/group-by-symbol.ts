interface Holding {
  readonly symbol: string;
}

// A list is immutable, so its grouping is memoized; the WeakMap drops it with the list.
const groups = new WeakMap<readonly Holding[], ReadonlyMap<string, readonly Holding[]>>();

export function groupBySymbol<T extends Holding>(
  list: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const known = groups.get(list);
  if (known) return known as ReadonlyMap<string, readonly T[]>;
  const grouped = Map.groupBy(list, ({ symbol }) => symbol);
  groups.set(list, grouped);
  return grouped;
}
