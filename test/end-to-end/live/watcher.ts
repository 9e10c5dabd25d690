import { createClient as createSseClient } from 'graphql-sse';
import { type ClientOptions, createClient as createWebSocketClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { PublicError, TestApp } from '../../support/app.ts';

export interface ChangesEvent {
  readonly cursor: string;
  readonly snapshot: boolean;
  readonly upserted: readonly Row[];
  /** Present if selected. */
  readonly ticks?: readonly Pick<Row, 'id' | 'profit' | 'priceCurrent'>[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
  readonly totals: { readonly count: number; readonly profit: number | null };
  readonly status: 'LIVE' | 'DELAYED';
  readonly asOf: string;
}

export interface Row {
  readonly id: string;
  readonly symbol: string;
  readonly profit: number | null;
  readonly priceCurrent: number | null;
}

/** An event of the whole account: its positions, orders and session. */
export interface AccountEvent
  extends Omit<ChangesEvent, 'upserted' | 'ticks' | 'opened' | 'closed'> {
  readonly positions: Pick<ChangesEvent, 'upserted' | 'ticks' | 'opened' | 'closed'>;
  readonly orders: {
    readonly upserted: readonly PendingOrder[];
    readonly closed: readonly string[];
    readonly fetchedAt: string;
  } | null;
  readonly session: { readonly balance: number; readonly fetchedAt: string } | null;
}

export interface PendingOrder {
  readonly id: string;
  readonly symbol: string;
  readonly priceOpen: number;
}

export interface WatchOptions {
  readonly after?: string | null;
  readonly intervalMs?: number;
  readonly heartbeatSeconds?: number;
}

const ROW = '{ id symbol profit priceCurrent }';
export const CHANGES = `subscription ($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  positionChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot upserted ${ROW} opened closed totals { count profit } status asOf
  }
}`;
export const ACCOUNT = `subscription ($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  accountChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot positions { upserted ${ROW} ticks { id profit priceCurrent } opened closed }
    orders { upserted { id symbol priceOpen } closed fetchedAt }
    session { id balance equity fetchedAt }
    totals { count profit } status asOf
  }
}`;
/** The two subscriptions to changes, for tests that apply to both. */
export const BOTH_CHANGES = [
  ['positionChanges', CHANGES],
  ['accountChanges', ACCOUNT],
] as const;
export const LIST = `subscription ($intervalMs: Int, $heartbeatSeconds: Int) {
  positions(intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) ${ROW}
}`;

/** One subscription of a client library, and the list that results from its events. */
export class Watcher {
  readonly events: ChangesEvent[] = [];
  readonly lists: (readonly Row[])[] = [];
  readonly rows = new Map<string, Row>();
  readonly orders = new Map<string, PendingOrder>();
  readonly accountEvents: AccountEvent[] = [];
  errors: readonly PublicError[] = [];
  /** The end of the subscription: `complete`, or what the library passed to `error`. */
  ended: unknown = null;
  /** The library sends these again after a reconnect, so that it resumes from the last event. */
  readonly variables: { after: string | null; intervalMs?: number; heartbeatSeconds?: number };
  leave: () => void = () => {};
  /** For `eventually`: the end of the subscription fails the wait. */
  readonly whileOpen = { ended: () => this.ended };

  constructor({ after = null, ...times }: WatchOptions = {}) {
    this.variables = { after, ...times };
  }

  get last(): ChangesEvent | undefined {
    return this.events.at(-1);
  }

  /** The current list, sorted so that watchers can be compared. */
  get list(): readonly Row[] {
    const rows = this.lists.at(-1) ?? [...this.rows.values()];
    return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  readonly sink = {
    next: ({ data, errors }: { data?: unknown; errors?: unknown }) => {
      if (errors) this.errors = errors as readonly PublicError[];
      const { accountChanges, positions, ...changes } = (data ?? {}) as {
        accountChanges?: AccountEvent;
        positions?: readonly Row[];
      };
      if (positions) this.lists.push(positions);
      if (accountChanges) this.#applyAccount(accountChanges);
      // The remaining field is `positionChanges`, or an alias of it.
      for (const event of Object.values<ChangesEvent>(changes)) this.#apply(event);
    },
    error: (failure: unknown) => {
      this.ended = failure;
    },
    complete: () => {
      this.ended = 'complete';
    },
  };

  #applyAccount(event: AccountEvent): void {
    const { snapshot, positions, orders } = event;
    this.accountEvents.push(event);
    if (snapshot && orders) this.orders.clear();
    for (const id of orders?.closed ?? []) this.orders.delete(id);
    for (const order of orders?.upserted ?? []) this.orders.set(order.id, order);
    this.#apply({ ...event, ...positions });
  }

  #apply(event: ChangesEvent): void {
    this.events.push(event);
    this.variables.after = event.cursor;
    if (event.snapshot) this.rows.clear();
    for (const id of event.closed) this.rows.delete(id);
    for (const row of event.upserted) this.rows.set(row.id, row);
    // A tick for a missing row makes a row without a symbol, which fails a test's comparison.
    for (const tick of event.ticks ?? []) {
      this.rows.set(tick.id, { ...(this.rows.get(tick.id) as Row), ...tick });
    }
  }
}

export interface LiveClient extends AsyncDisposable {
  /** Subscribes to the changes, or with `LIST` to the whole list. */
  watch(options?: WatchOptions, query?: string): Watcher;
  dispose(): unknown;
}

/** A client with one socket, which the public client library opens for the first subscription. */
export function webSocketClient(
  app: Pick<TestApp, 'webSocketUrl'>,
  token: string | (() => string | Promise<string>),
  options: Partial<ClientOptions> = {},
): LiveClient {
  return liveClientOf(
    createWebSocketClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: async () => ({
        authorization: `Bearer ${typeof token === 'string' ? token : await token()}`,
      }),
      retryAttempts: 0,
      ...options,
    }),
  );
}

/** A client with an event stream for each subscription. */
export function sseClient(app: Pick<TestApp, 'url'>, token: string | (() => string)): LiveClient {
  return liveClientOf(
    createSseClient({
      url: `${app.url}/graphql`,
      headers: () => ({ authorization: `Bearer ${typeof token === 'string' ? token : token()}` }),
      retryAttempts: 0,
    }),
  );
}

/** What both client libraries have in common. */
interface LibraryClient {
  subscribe(
    request: { query: string; variables: Record<string, unknown> },
    sink: Watcher['sink'],
  ): () => void;
  dispose(): unknown;
}

function liveClientOf(client: LibraryClient): LiveClient {
  return {
    watch(options, query = CHANGES) {
      const watcher = new Watcher(options);
      const { variables, sink } = watcher;
      watcher.leave = client.subscribe({ query, variables }, sink);
      return watcher;
    },
    dispose: () => client.dispose(),
    async [Symbol.asyncDispose]() {
      await client.dispose();
    },
  };
}
