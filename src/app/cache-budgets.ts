/** The cache whose content costs most to get again has most: a catalog costs megabytes of the gateway's, a snapshot a call, a list of positions nothing. */
const SHARES = {
  catalogs: 0.5,
  sessions: 0.25,
  answers: 0.12,
  positions: 0.08,
  documents: 0.05,
} as const;

export type CacheBudgets = Readonly<Record<keyof typeof SHARES, number>>;

/** The bytes of each cache. Beside them is what has to be remembered: refusals, marks, counts, orders. */
export function cacheBudgets(sum: number): CacheBudgets {
  const shares = Object.entries(SHARES).map(([name, share]) => [name, Math.floor(sum * share)]);
  return Object.fromEntries(shares) as CacheBudgets;
}
