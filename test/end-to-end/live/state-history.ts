import { type LaggingGateway, stateAt } from '../../support/lagging-gateway.ts';
import type { AccountEvent, ChangesEvent } from './watcher.ts';

type Positions = ReadonlyMap<string, number | null>;

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
  match(positions: Positions, from: number): number | string {
    const { states } = this.gateway;
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
}

/** One subscriber's copy of the account, with what no subscriber should ever see. */
export class AccountFold {
  readonly problems: string[] = [];
  events = 0;
  readonly #history: StateHistory;
  readonly #positions = new Map<string, number | null>();
  readonly #orders = new Set<string>();
  readonly #shown = new Set<string>();
  /** The reads by whose lists an order was nowhere, without a break. */
  readonly #nowhere = new Map<string, Set<string>>();
  #state = 0;
  #hasOrders = false;

  constructor(history: StateHistory) {
    this.#history = history;
  }

  add(
    { snapshot, asOf }: Pick<ChangesEvent, 'snapshot' | 'asOf'>,
    positions: Pick<ChangesEvent, 'upserted' | 'closed'>,
    orders: AccountEvent['orders'],
  ): void {
    this.events += 1;
    if (snapshot) this.#positions.clear();
    for (const id of positions.closed) this.#positions.delete(id);
    for (const { id, profit } of positions.upserted) this.#positions.set(id, profit);
    const from = Math.max(this.#state, this.#history.atLeast(Date.parse(asOf)));
    const state = this.#history.match(this.#positions, from);
    if (typeof state === 'string') this.problems.push(`as of ${asOf}: ${state}`);
    else {
      this.#state = state;
      this.#history.serve(state);
    }
    if (orders === null) return;
    this.#hasOrders = true;
    if (snapshot) this.#orders.clear();
    for (const id of orders.closed) this.#orders.delete(id);
    for (const { id } of orders.upserted) {
      this.#orders.add(id);
      this.#shown.add(id);
    }
    for (const id of this.#shown) this.#place(id, asOf);
  }

  get isUpToDate(): boolean {
    const last = this.#history.gateway.states.at(-1);
    if (last === undefined || !sameMap(last.positions, this.#positions)) return false;
    if (!this.#hasOrders) return true;
    return (
      last.orders.size === this.#orders.size && [...last.orders].every((id) => this.#orders.has(id))
    );
  }

  #place(id: string, asOf: string): void {
    const isListed = this.#orders.has(id) || this.#positions.has(id);
    if (isListed || this.#history.gone.has(id)) {
      this.#nowhere.delete(id);
      return;
    }
    const reads = (this.#nowhere.get(id) ?? new Set()).add(asOf);
    this.#nowhere.set(id, reads);
    if (reads.size > 2) this.problems.push(`as of ${asOf}: order ${id} is nowhere`);
  }
}

function sameMap(a: Positions, b: Positions): boolean {
  return a.size === b.size && [...a].every(([id, number]) => b.get(id) === number);
}
