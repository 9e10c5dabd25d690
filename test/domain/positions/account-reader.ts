import { isDeepStrictEqual } from 'node:util';
import type { Order, Position } from '../../../src/gateway/model.ts';
import type { PullStream } from '../../../src/lib/pull-stream.ts';
import { type AccountWorld, positionOf } from './account-world.ts';
import type { AccountEvent, LiveBench } from './live-bench.ts';

/** A client that reads the whole account only on `pull`, folds the events, and resumes at any replica. */
export class AccountReader {
  readonly positions = new Map<string, Position>();
  readonly orders = new Map<string, Order>();
  balance: number | null = null;
  /** Orders that were shown since the last snapshot. */
  readonly #seen = new Set<string>();
  /** Violations that no client should ever see. */
  readonly problems: string[] = [];
  events = 0;
  resumed = 0;
  readonly #replicas: readonly LiveBench[];
  readonly #world: AccountWorld;
  readonly #name: string;
  #replica = 0;
  #token = 0;
  #stream: PullStream<AccountEvent> | null = null;
  #isPulling = false;
  #cursor: string | null = null;
  #asOfMs = 0;

  constructor(replicas: readonly LiveBench[], world: AccountWorld, name: string) {
    this.#replicas = replicas;
    this.#world = world;
    this.#name = name;
  }

  /** Pulls one event unless a pull is pending. */
  pull(intervalMs: number | null): void {
    if (this.#isPulling) return;
    this.#stream ??= this.#connect(intervalMs);
    const stream = this.#stream;
    this.#isPulling = true;
    stream.next().then(
      ({ value, done }) => {
        if (stream !== this.#stream) return;
        this.#isPulling = false;
        if (done) this.#stream = null;
        else this.#fold(value);
      },
      () => this.#startOver(stream),
    );
  }

  disconnect(replica: number = this.#replica): void {
    void this.#stream?.return();
    this.#stream = null;
    this.#isPulling = false;
    this.#replica = replica;
  }

  #startOver(stream: PullStream<AccountEvent>): void {
    if (stream !== this.#stream) return;
    this.#token += 1;
    this.disconnect();
  }

  #connect(intervalMs: number | null): PullStream<AccountEvent> {
    const { hub, prove, viewer } = this.#replicas[this.#replica] as LiveBench;
    const asking = viewer(`${this.#name} ${this.#token}`);
    return hub.watchAccount(prove(asking), asking, { after: this.#cursor, intervalMs });
  }

  #fold({ cursor, snapshot, positions, orders, session, totals, asOf }: AccountEvent): void {
    this.events += 1;
    if (snapshot) {
      this.positions.clear();
      if (orders !== null) this.orders.clear();
      this.#seen.clear();
    } else this.resumed += 1;
    if (positions.opened.some((id) => this.positions.has(id)))
      this.#complain('opened what was open');
    if (!positions.closed.every((id) => this.positions.delete(id)))
      this.#complain('closed what was not open');
    if (orders && !orders.closed.every((id) => this.orders.delete(id)))
      this.#complain('closed no order');
    for (const row of positions.upserted) this.positions.set(row.id, row);
    for (const row of orders?.upserted ?? []) {
      this.orders.set(row.id, row);
      this.#seen.add(row.id);
    }
    if (session !== null) this.balance = session.session.balance;
    if (totals.count !== this.positions.size) this.#complain('counted otherwise');
    if (asOf.getTime() < this.#asOfMs && !snapshot) this.#complain('went back in time');
    this.#cursor = cursor;
    this.#asOfMs = asOf.getTime();
  }

  #complain(problem: string): void {
    this.problems.push(problem);
  }

  /** Orders that are shown beside their position, and triggered ones of which neither is shown any longer. */
  disagreements(): string[] {
    const { triggered, gone } = this.#world;
    const both = [...this.orders.keys()].filter((id) => this.positions.has(positionOf(id)));
    const neither = [...this.#seen].filter(
      (id) =>
        triggered.has(id) &&
        !gone.has(id) &&
        !this.orders.has(id) &&
        !this.positions.has(positionOf(id)),
    );
    return [...both.map((id) => `both ${id}`), ...neither.map((id) => `neither ${id}`)];
  }

  /** Whether the client has what the gateway has. */
  get isUpToDate(): boolean {
    const { positions, orders, balance } = this.#world;
    return (
      this.balance === balance &&
      isDeepStrictEqual(sortById([...this.positions.values()]), sortById(positions)) &&
      isDeepStrictEqual(sortById([...this.orders.values()]), sortById(orders))
    );
  }
}

function sortById<T extends { readonly id: string }>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
