import { type LaggingGateway, stateAt } from '../../support/lagging-gateway.ts';
import type { Watcher } from './watcher.ts';

type Positions = ReadonlyMap<string, number | null>;
type Rows = Iterable<readonly [id: string, row: { readonly profit: number | null }]>;

const numbersOf = (rows: Rows): Positions =>
  new Map([...rows].map(([id, { profit }]) => [id, profit]));

/** The gateway's states, and how far what was shown of its list has come. */
export class StateHistory {
  readonly gateway: LaggingGateway;
  /** The orders that were cancelled, and those whose position has closed again. */
  readonly gone = new Set<string>();
  #served = 0;

  constructor(gateway: LaggingGateway) {
    this.gateway = gateway;
  }

  /** The earliest state that the newest list which was shown can be of. */
  get served(): number {
    return this.#served;
  }

  serve(state: number): void {
    this.#served = Math.max(this.#served, state);
  }

  /** The first state from this one on that has the positions, or words for why there is none. */
  match(rows: Rows, from: number): number | string {
    const { states } = this.gateway;
    const positions = numbersOf(rows);
    const has = (state: { readonly positions: Positions }) => sameMap(state.positions, positions);
    const found = states.findIndex((state, at) => at >= from && has(state));
    if (found >= 0) return found;
    const earlier = states.findLastIndex(has);
    return earlier < 0
      ? `${[...positions.keys()]} never was`
      : `state ${earlier} is shown behind state ${from}`;
  }

  /** The state that an answer to a call of op 12 sent at that time has at least. */
  atLeast(sentAtMs: number): number {
    const { states, lagMs } = this.gateway;
    // A state of that very millisecond may have come behind the answer.
    return states.indexOf(stateAt(states, sentAtMs - lagMs.getOpenPositions - 1));
  }

  /** Whether a subscriber has the account as it is. */
  isNewest({ rows, orders, accountEvents }: Watcher): boolean {
    const last = this.gateway.states.at(-1);
    if (last === undefined || !sameMap(last.positions, numbersOf(rows))) return false;
    if (accountEvents.length === 0) return true;
    return (
      last.orders.size === orders.size && [...orders.keys()].every((id) => last.orders.has(id))
    );
  }
}

/** What one reader is shown, held to the gateway's states. */
export class ShownLists {
  readonly problems: string[] = [];
  readonly #history: StateHistory;
  readonly #orders = new Set<string>();
  /** The reads by whose lists an order was nowhere, without a break. */
  readonly #nowhere = new Map<string, Set<unknown>>();

  constructor(history: StateHistory) {
    this.#history = history;
  }

  /** Returns the state that the list is of, from this one on. */
  check(rows: Rows, from: number, read: string): number {
    const state = this.#history.match(rows, from);
    if (typeof state === 'number') return state;
    this.problems.push(`${read}: ${state}`);
    return from;
  }

  /** None of the orders that were shown may be nowhere by more than two reads on end. */
  checkOrders(orders: readonly string[], positions: readonly string[], read: unknown): void {
    for (const id of orders) this.#orders.add(id);
    for (const id of this.#orders) {
      if (orders.includes(id) || positions.includes(id) || this.#history.gone.has(id)) {
        this.#nowhere.delete(id);
        continue;
      }
      const reads = (this.#nowhere.get(id) ?? new Set()).add(read);
      this.#nowhere.set(id, reads);
      if (reads.size > 2) this.problems.push(`${read}: order ${id} is nowhere`);
    }
  }
}

function sameMap(a: Positions, b: Positions): boolean {
  return a.size === b.size && [...a].every(([id, number]) => b.get(id) === number);
}
