import DataLoader from 'dataloader';
import { type PositionTotals, totalsOf } from '../domain/account/totals.ts';
import type { AccountProof, FreshAccountProof } from '../domain/auth/proof.ts';
import type { OwnReads, Viewer } from '../domain/auth/viewer.ts';
import type { CatalogView } from '../domain/catalog/catalogs.ts';
import {
  type InstrumentConnection,
  type PageRequest,
  pageOf,
} from '../domain/catalog/paging/page.ts';
import type { createDomain } from '../domain/create-domain.ts';
import type { InputOf, ReadOperation } from '../gateway/define-operation.ts';
import type { Caller } from '../gateway/exchange.ts';
import type { Instrument } from '../gateway/operations/get-all-tickers.ts';
import type { PositionsAnswer } from '../gateway/operations/get-open-positions.ts';
import type { SessionAnswer } from '../gateway/operations/get-session.ts';
import type { Order, Position } from '../gateway/operations/holdings.ts';
import { PROVING_READS, type ReadName } from '../gateway/operations.ts';
import type { OtherServices } from '../gateway/services.ts';
import { memo } from '../lib/caches.ts';
import { toToken } from '../lib/limits/request-caller.ts';
import { chain, type MaybePromise, promised } from '../lib/maybe-promise.ts';
import { InputError } from '../lib/public-error.ts';

const MAX_IDS = 500;

/**
 * The data of the account that a field reads. In queries: the lists of `positions` and `orders`, the `session`, and `rows`,
 * which are the positions in the session's answer and are not cached. In subscriptions: `snapshots`, `figures` and `ticks`,
 * which a feed may have. Any other read has the name of its gateway operation.
 */
export type AccountRead =
  | 'positions'
  | 'orders'
  | 'session'
  | 'rows'
  | 'snapshots'
  | 'figures'
  | 'ticks'
  | ReadName;

/** The account reads that a scope's fields need. They are known before the first read. */
export interface Plan {
  readonly maxAgeSeconds: number;
  has(read: AccountRead): boolean;
}

export const NO_PLAN: Plan = {
  maxAgeSeconds: Infinity,
  has: () => false,
};

/**
 * The memoized reads of one viewer between two writes. Each gateway operation is called at most once, however often a
 * document selects it. A write is followed by a new scope, whose reads are sent after the write.
 */
export class Scope implements OwnReads {
  readonly caller: Caller;
  protected readonly services: Services;
  /** Called with the viewer once it is known, for the log. */
  readonly #onIdentified: (viewer: Viewer) => void;
  readonly #plan: Plan;
  /** The logical time of the write before this scope, or 0. A read may share only a call that was sent later. */
  readonly #after: number;
  #viewer: MaybePromise<Viewer> | undefined;
  #session: Promise<SessionAnswer> | undefined;
  #list: Promise<PositionsAnswer> | undefined;
  #catalog: MaybePromise<CatalogView> | undefined;
  #reads: Map<string, Promise<unknown>> | undefined;
  /** Batches the look-ups of instruments while the catalog is read. */
  #instruments: DataLoader<string, Instrument | null> | undefined;

  constructor(
    services: Services,
    caller: Caller,
    onIdentified: (viewer: Viewer) => void,
    plan: Plan,
    after = 0,
  ) {
    this.services = services;
    this.caller = caller;
    this.#onIdentified = onIdentified;
    this.#plan = plan;
    this.#after = after;
  }

  /** The scope after a write: the same caller, without memoized reads. */
  renewed(plan: Plan): Scope {
    return this.#next(this.caller, plan);
  }

  /** The same request, with a token that it has just received. */
  withToken(token: string): Scope {
    const own = toToken(token, this.caller.forwarded?.digest);
    return this.#next({ ...this.caller, token: own, tokenStatus: undefined }, this.#plan);
  }

  #next(caller: Caller, plan: Plan): Scope {
    const { logicalClock } = this.services;
    return new Scope(this.services, caller, this.#onIdentified, plan, logicalClock.next());
  }

  viewer(): MaybePromise<Viewer> {
    this.#viewer ??= chain(this.services.identify(this.caller, this), (viewer) => {
      this.#onIdentified(viewer);
      return viewer;
    });
    return this.#viewer;
  }

  /** Proof of the viewer's account, for a read of another service about it. */
  account(): Promise<AccountProof> {
    return this.asViewer((viewer) => this.services.prover.account(viewer));
  }

  /** Proof by a gateway call of this request, for a write of another service: nobody behind it checks the token again. */
  accountNow(): Promise<FreshAccountProof> {
    return this.asViewer((viewer) => this.services.prover.accountNow(viewer));
  }

  /** A read of another service that this scope makes once for each input, however often its document selects it. */
  once<T>(name: string, input: unknown, read: () => Promise<T>): Promise<T> {
    this.#reads ??= new Map();
    return memo(this.#reads, `own ${name} ${JSON.stringify(input)}`, read) as Promise<T>;
  }

  plannedSession(): Promise<SessionAnswer> | null {
    return this.#plan.has('session') || this.#plan.has('orders') ? this.session() : null;
  }

  plannedProofs(): readonly Promise<unknown>[] {
    const reads = PROVING_READS.filter(({ name }) => this.#plan.has(name));
    const proofs = reads.map((read: ReadOperation<undefined, unknown> & { name: ReadName }) =>
      this.read(read),
    );
    return this.#plan.has('positions') ? [this.#readList(), ...proofs] : proofs;
  }

  /** Reads the session with the lowest `maxAge` of the scope's fields. */
  session(): Promise<SessionAnswer> {
    this.#session ??= this.asViewer((viewer) => this.#fetchSession(viewer));
    return this.#session;
  }

  #fetchSession(viewer: Viewer): MaybePromise<SessionAnswer> {
    const { sessions, logicalClock } = this.services;
    const maxAgeMs = this.#plan.maxAgeSeconds * 1000;
    // With a `maxAge` of 0, the read joins no call under way.
    const after = maxAgeMs === 0 ? logicalClock.next() : this.#after;
    const demand = { maxAgeMs, after };
    // A newer list of positions can show that a cached session is outdated. If both are needed, the list is read first.
    const needsList = this.#plan.has('positions') || this.#plan.has('rows');
    const isListFirst = needsList && sessions.cached(viewer, demand) !== null;
    const listRead = isListFirst ? this.#readList().catch(() => null) : null;
    return chain(listRead, () => sessions.read(viewer, demand));
  }

  async positions(): Promise<readonly Position[]> {
    return (await this.#readList()).rows;
  }

  #readList(): Promise<PositionsAnswer> {
    const after = this.#after;
    this.#list ??= this.asViewer((viewer) => this.services.openPositions.read(viewer, { after }));
    return this.#list;
  }

  async position(id: string): Promise<Position | null> {
    return (await this.positions()).find((one) => one.id === id) ?? null;
  }

  async positionTotals(): Promise<PositionTotals> {
    return totalsOf(await this.positions());
  }

  async positionsOf(answer: SessionAnswer): Promise<readonly Position[] | null> {
    // If the list is selected too, it is read first: clients cache a position of either field as one object.
    if (this.#plan.has('positions')) await this.#readList().catch(() => null);
    const positions = this.services.openPositions.newest(await this.viewer(), answer);
    // `undefined` means that the rows are not in memory.
    return positions === undefined ? this.positions() : positions;
  }

  async orders(): Promise<readonly Order[] | null> {
    return (await this.session()).session.orders;
  }

  async order(id: string): Promise<Order | null> {
    return (await this.orders())?.find((one) => one.id === id) ?? null;
  }

  async positionsIn(symbol: string): Promise<readonly Position[]> {
    return groupBySymbol(await this.positions()).get(symbol) ?? [];
  }

  async ordersFor(symbol: string): Promise<readonly Order[] | null> {
    const orders = await this.orders();
    return orders === null ? null : (groupBySymbol(orders).get(symbol) ?? []);
  }

  /** Returns one version for the whole scope, so that the fields of an answer never mix two catalogs. */
  catalog(): MaybePromise<CatalogView> {
    this.#catalog ??= chain(
      chain(this.viewer(), (viewer) => this.services.catalogs.read(viewer)),
      // Stored, so that later fields read it synchronously.
      (view) => (this.#catalog = view),
    );
    return this.#catalog;
  }

  /** Synchronous once the catalog is read, because a promise for each row would cost more. */
  instrument(id: string): MaybePromise<Instrument | null> {
    const catalog = this.catalog();
    if (!(catalog instanceof Promise)) return catalog.version.byId.get(id) ?? null;
    this.#instruments ??= new DataLoader(async (ids) => {
      const { byId } = (await catalog).version;
      return ids.map((each) => byId.get(each) ?? null);
    });
    return this.#instruments.load(id);
  }

  instrumentsByIds(ids: readonly string[]): readonly MaybePromise<Instrument | null>[] {
    if (ids.length > MAX_IDS) throw new InputError('ids', `ids must be at most ${MAX_IDS}.`);
    return ids.map((id) => this.instrument(id));
  }

  /** `scanned` is called with the number of instruments that a filter examines. */
  instruments(
    request: PageRequest,
    scanned: (count: number) => void,
  ): MaybePromise<InstrumentConnection> {
    return chain(this.catalog(), ({ version }) => {
      if (request.filter != null) scanned(version.instruments.length);
      return pageOf(version, request);
    });
  }

  /** A read that depends only on its viewer and its input. */
  read<Input, T>(
    operation: ReadOperation<Input, T> & { readonly name: ReadName },
    ...input: InputOf<Input>
  ): Promise<T> {
    this.#reads ??= new Map();
    const { name } = operation;
    const request = input.length === 0 ? '' : JSON.stringify(input);
    const { gateway, accountReads } = this.services;
    const send = (viewer: Viewer) => gateway.read(viewer, operation, ...input);
    const demand = { after: this.#after, request };
    const begin = () => this.asViewer((viewer) => accountReads.read(viewer, name, send, demand));
    return memo(this.#reads, name + request, begin) as Promise<T>;
  }

  protected asViewer<T>(read: (viewer: Viewer) => MaybePromise<T>): Promise<T> {
    return promised(() => chain(this.viewer(), read));
  }
}

type Holding = Pick<Position | Order, 'symbol'>;

// Lists are immutable, so their groupings are memoized. The WeakMap drops a grouping with its list.
const groups = new WeakMap<readonly Holding[], ReadonlyMap<string, readonly Holding[]>>();

function groupBySymbol<T extends Holding>(list: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const grouped = memo(groups, list, () => Map.groupBy(list, ({ symbol }) => symbol));
  return grouped as ReadonlyMap<string, readonly T[]>;
}

/**
 * The dependencies of resolvers, created once per process by the composition root. It omits orders and the proof ledger:
 * resolvers place orders through the order desk, which requires proof.
 */
export type Services = OtherServices &
  Omit<
    ReturnType<typeof createDomain>,
    'orders' | 'ledger' | 'tokenEnds' | 'resumePolls' | 'caches'
  >;
