import type { Clock } from '../lib/clock.ts';
import type { Account } from './account.ts';
import { Catalogs } from './catalog.ts';
import { Desk } from './desk.ts';
import { createInstruments, type Listed, MODE_FULL } from './instruments.ts';
import { Ledger } from './ledger.ts';
import { isTestSymbol } from './listings.ts';
import { Market } from './market.ts';
import { seedAccount } from './seed-account.ts';
import type { SandboxUser } from './users.ts';

export interface WorldOptions {
  readonly seed: string;
  readonly instruments: number;
  readonly clock: Clock;
  /** The numbers continue after a reset, because a repeated number would name two orders. */
  readonly nextOrderId: () => number;
}

/** A fixed date for the seed's prices, so that the same seed gives the same bytes. */
const SEEDED_AT_MS = Date.UTC(2026, 0, 5);

/** The state that a reset restores from the seed. */
export class World {
  readonly market: Market;
  readonly catalogs: Catalogs;
  readonly desk: Desk;
  readonly ledger = new Ledger();
  readonly #seed: string;
  readonly #clock: Clock;
  readonly #instruments: readonly Listed[];
  readonly #bySymbol: ReadonlyMap<string, Listed>;
  readonly #accounts = new Map<number, Account>();
  /** The instruments that each group may trade, without the test instruments. */
  readonly #tradeable = new Map<string, readonly Listed[]>();

  constructor({ seed, instruments, clock, nextOrderId }: WorldOptions) {
    this.#seed = seed;
    this.#clock = clock;
    this.#instruments = createInstruments(seed, instruments);
    this.#bySymbol = new Map(this.#instruments.map((listed) => [listed.instrument.symbol, listed]));
    this.market = new Market(seed, this.#instruments, SEEDED_AT_MS);
    this.catalogs = new Catalogs(seed, this.#instruments, clock);
    this.desk = new Desk({
      market: this.market,
      ledger: this.ledger,
      find: (symbol) => this.#bySymbol.get(symbol),
      nowMs: () => clock.now(),
      nextOrderId,
    });
  }

  account(user: SandboxUser): Account {
    const known = this.#accounts.get(user.login);
    if (known !== undefined) return known;
    const account = seedAccount(user, {
      seed: this.#seed,
      tradeable: this.#tradeableIn(user.group),
      quotes: this.market.opening,
      hold: (owner, holding) => this.desk.hold(owner, holding),
    });
    this.#accounts.set(user.login, account);
    return account;
  }

  tick(): void {
    const changed = this.market.tick(this.desk.heldInstruments(), this.#clock.now());
    this.desk.settle(changed);
  }

  /** Returns false for an unknown instrument. */
  putPrice(symbol: string, price: number): boolean {
    const listed = this.#bySymbol.get(symbol);
    if (listed === undefined) return false;
    this.market.put(listed.index, price, this.#clock.now());
    this.desk.settle([listed.index]);
    return true;
  }

  #tradeableIn(group: string): readonly Listed[] {
    const known = this.#tradeable.get(group);
    if (known !== undefined) return known;
    const members = this.#instruments.filter(
      ({ instrument }) =>
        instrument.access.includes(group) &&
        instrument.mode === MODE_FULL &&
        !isTestSymbol(instrument.symbol),
    );
    this.#tradeable.set(group, members);
    return members;
  }
}
