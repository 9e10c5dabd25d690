import type { Account } from '../lib/account.ts';
import type { Services } from './services.ts';

/** Spread into a type or a field: what its lists have one entry for. */
export const perInstrument = { listSize: 'instruments' } as const;
export const perPosition = { listSize: 'positions' } as const;
export const perOrder = { listSize: 'orders' } as const;

// Sizes to assume while nothing is known of an account, or of a catalog.
const USUAL_HOLDINGS = 50;
const USUAL_CATALOG = 1_000;

/** `known`: sizes that are known, by the same names; 0 for what is not. */
export function sizeOf(name: string, known: (name: string) => number): number {
  return name === perInstrument.listSize
    ? known(name) || USUAL_CATALOG
    : Math.max(USUAL_HOLDINGS, known(name));
}

/** The size of what is cached, of a proved account's alone: a cost's error would tell a forged token how much it has. */
export function cachedSize(
  { catalogs, holdings }: Pick<Services, 'catalogs' | 'holdings'>,
  account: Account | undefined,
  name: string,
): number {
  if (name === perInstrument.listSize) return catalogs.heldSize;
  if (account === undefined) return 0;
  return name === perPosition.listSize ? holdings.positions(account) : holdings.orders(account);
}
