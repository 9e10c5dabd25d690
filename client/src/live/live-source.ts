import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** Exact sums over the list, without a currency; null if a position lacks the figure. */
export interface PositionTotals {
  readonly count: number;
  readonly invested: number | null;
  readonly profit: number | null;
}

/** The gateway's figures of the account, as of `fetchedAt`. */
export interface AccountFigures {
  readonly id: string;
  readonly login: string;
  readonly currency: string | null;
  readonly balance: number | null;
  readonly equity: number | null;
  readonly credit: number | null;
  readonly assets: number | null;
  readonly invested: number | null;
  readonly profits: number | null;
  readonly storage: number | null;
  readonly leverage: number | null;
  readonly access: { readonly currencyDigits: number | null } | null;
  /** When the gateway answered these figures, in ISO 8601. */
  readonly fetchedAt: string;
}

/** The fields that each event of a live list has. */
export interface LiveEvent {
  /** Identifies the state after this event; pass it as the next `after`. */
  readonly cursor: string;
  /** Whether each `upserted` is the whole list. */
  readonly snapshot: boolean;
  /** Undefined if the list has none. */
  readonly totals?: PositionTotals | undefined;
  readonly status: 'LIVE' | 'DELAYED';
  /** When the list was last confirmed, in ISO 8601. */
  readonly asOf: string;
}

/** The rows that an event adds or changes, and the keys of those that have ended. */
export interface ListChanges<Row> {
  readonly upserted: readonly Row[];
  /** Rows of which only fields that follow the price have changed: just these fields, if they are selected. */
  readonly ticks?: readonly Partial<Row>[] | undefined;
  readonly closed: readonly string[];
}

export interface LiveVariables {
  readonly after: string | null;
  readonly intervalMs: number | null;
  readonly heartbeatSeconds: number;
}

/** The part of a state that says whether it is up to date. */
export interface LiveState {
  /**
   * `CONNECTING`: the first list is requested; a list, a failure, or 5 s without progress end this. `LIVE`: the list follows
   * the gateway. `DELAYED`: the gateway does not answer the server, or no socket opens and the list is polled every 5 s.
   * `OFFLINE`: the server cannot be reached, and the data is as of `asOf`.
   */
  readonly status: 'CONNECTING' | 'LIVE' | 'DELAYED' | 'OFFLINE';
  /**
   * When the gateway last confirmed the data, as the server says; null before the first list. It changes without a call of
   * the listeners. `age()` says how long ago that was.
   */
  readonly asOf: Date | null;
  /** The reason why there is no list, or why the list is not updated; null while it is updated. */
  readonly error: TradingGraphError | null;
}

export interface FoldOptions {
  /** Whether the event is its subscription's first, which may come from another server with a clock of its own. */
  readonly isFirst?: boolean | undefined;
}

/** The result of all events so far. */
export interface LiveSum {
  /** The next `after`. */
  readonly cursor: string;
  readonly status: 'LIVE' | 'DELAYED';
  /** When the list was last confirmed. */
  readonly asOf: Date;
}

/** A subscription with cursors, and the state that results from its events. */
export interface LiveSource<
  Data,
  Event extends LiveEvent,
  Sum extends LiveSum,
  State extends LiveState,
> {
  readonly operation: Operation<Data, LiveVariables>;
  eventOf(data: Data): Event;
  /** Null if an event is missing or came out of order. */
  fold(sum: Sum | null, event: Event, options: FoldOptions): Sum | null;
  /** The state before any data. */
  readonly nothing: State;
  /** The part of the state that the events determine. */
  shown(sum: Sum): Omit<State, 'status' | 'asOf' | 'error'>;
}

/** A source whose list can be queried while no socket opens. */
export interface PolledSource<
  Data,
  PolledData,
  Event extends LiveEvent,
  Sum extends LiveSum,
  State extends LiveState,
> extends LiveSource<Data, Event, Sum, State> {
  readonly query: Operation<PolledData, never>;
  /** The list from a query that was sent at this time. Null if the answer lacks it. */
  polled(sum: Sum | null, data: PolledData, sentAt: Date): Sum | null;
}
