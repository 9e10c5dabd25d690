import type { Clock } from '../lib/clock.ts';
import type { Account } from './account.ts';
import { Catalogs } from './catalog.ts';
import { Desk } from './desk.ts';
import { createInstruments, type Listed, MODE_FULL } from './instruments.ts';
import { Ledger } from './ledger.ts';
import { createMarket, type Market } from './market.ts';
import { seedAccount } from './seed-account.ts';
import { Snapshots } from './snapshot.ts';
import type { SandboxUser } from './users.ts';

/** The state that a reset restores from the seed. */
export interface World {
  readonly market: Market;
  readonly catalogs: Catalogs;
  readonly desk: Desk;
  readonly ledger: Ledger;
  readonly snapshots: Snapshots;
  account(user: SandboxUser): Account;
  find(symbol: string): Listed | undefined;
  tick(): void;
  /** Returns false for an unknown instrument. */
  putPrice(symbol: string, price: number): boolean;
}

export interface WorldOptions {
  readonly seed: string;
  readonly instruments: number;
  readonly clock: Clock;
  /** Outlasts a reset: a number that is told twice would be another order's. */
  readonly nextOrderId: () => number;
}

/** A fixed date for the seed's prices, so that the same seed gives the same bytes. */
const SEEDED_AT_MS = Date.UTC(2026, 0, 5);

export function createWorld(options: WorldOptions): World {
  const { seed, instruments: count, clock, nextOrderId } = options;
  const instruments = createInstruments(seed, count);
  const bySymbol = new Map(instruments.map((listed) => [listed.wire._id, listed]));
  const market = createMarket(seed, instruments, SEEDED_AT_MS);
  const ledger = new Ledger();
  const accounts = new Map<number, Account>();
  const find = (symbol: string) => bySymbol.get(symbol);
  const groups = new Map<string, readonly Listed[]>();
  const desk = new Desk({
    market,
    ledger,
    find,
    nowMs: () => clock.now(),
    nextOrderId,
  });

  function tradeable(group: string): readonly Listed[] {
    const known = groups.get(group);
    if (known !== undefined) return known;
    const members = instruments.filter(
      ({ wire }) =>
        wire.access.includes(group) && wire.mode === MODE_FULL && !wire._id.startsWith('TEST.'),
    );
    groups.set(group, members);
    return members;
  }

  return {
    market,
    catalogs: new Catalogs(seed, instruments, clock),
    desk,
    ledger,
    snapshots: new Snapshots(market),
    find,
    account(user) {
      const known = accounts.get(user.login);
      if (known !== undefined) return known;
      const account = seedAccount(user, {
        seed,
        tradeable,
        quotes: market.opening,
        hold: (owner, holding) => desk.hold(owner, holding),
      });
      accounts.set(user.login, account);
      return account;
    },
    tick() {
      desk.settle(market.tick(desk.held(), clock.now()));
    },
    putPrice(symbol, price) {
      const listed = find(symbol);
      if (listed === undefined) return false;
      market.put(listed.index, price, clock.now());
      desk.settle([listed.index]);
      return true;
    },
  };
}
