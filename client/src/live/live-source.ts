import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** Exact sums over the list, in no stated currency; null where a position does not say. */
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
  /** When the gateway gave these figures, in ISO 8601. */
  readonly fetchedAt: string;
}

/** The fields that each event of a live list has. */
export interface LiveEvent {
  /** Names the state after this event: the next `after`. */
  readonly cursor: string;
  /** Whether each `upserted` is the whole list, and not a change. */
  readonly snapshot: boolean;
  /** Left out where the list has none. */
  readonly totals?: PositionTotals | undefined;
  readonly status: 'LIVE' | 'DELAYED';
  /** When the list was last confirmed, in ISO 8601. */
  readonly asOf: string;
}

/** The rows of a list that an event brings or changes, and the keys of those that are gone. */
export interface ListChanges<Row> {
  readonly upserted: readonly Row[];
  /** The moving fields of rows of which nothing else has changed, where they are selected. */
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
   * `CONNECTING`: it is asked for, until the first list, a failure, or 5 s. `LIVE`: it follows the gateway. `DELAYED`: the
   * gateway does not answer the server, or no socket opens and the list is asked for every 5 s. `OFFLINE`: there is no line to the server, and all is as it was
   * at `asOf`.
   */
  readonly status: 'CONNECTING' | 'LIVE' | 'DELAYED' | 'OFFLINE';
  /**
   * When the gateway last confirmed it, as the server says; null before the first list. It moves without a word to the
   * listeners. `age()` says how long ago that was.
   */
  readonly asOf: Date | null;
  /** Why there is nothing, or why it does not go on; null while it does. */
  readonly error: TradingGraphError | null;
}

/** The circumstances of an event that is folded. */
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

/** A subscription with cursors, and what its events amount to. */
export interface LiveSource<
  Data,
  PolledData,
  Event extends LiveEvent,
  Sum extends LiveSum,
  State extends LiveState,
> {
  readonly operation: Operation<Data, LiveVariables>;
  /** The same list by a query, for where no socket opens. */
  readonly query: Operation<PolledData, never>;
  eventOf(data: Data): Event;
  /** Null where an event is missing or came out of order. */
  fold(sum: Sum | null, event: Event, options: FoldOptions): Sum | null;
  /** The list of a query that was sent at this time. Null where the answer lacks it. */
  polled(sum: Sum | null, data: PolledData, sentAt: Date): Sum | null;
  /** The state while nothing is known. */
  readonly nothing: State;
  /** The fields of the state that the events give. */
  shown(sum: Sum): Omit<State, 'status' | 'asOf' | 'error'>;
}
