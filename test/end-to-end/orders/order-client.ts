import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { systemClock } from '../../../src/lib/clock.ts';
import { CLOCK_TOLERANCE_MS } from '../../../src/store/order-gap.ts';
import {
  type GraphQLBody,
  type GraphQLMessage,
  type OrderRequest,
  placedOrderQuery,
  placeMutation,
  type Reply,
  replyOf,
  voidMutation,
} from './order-request.ts';

export type Transport = 'http' | 'socket';

export interface OrderServer {
  readonly url: string;
  readonly webSocketUrl: string;
}

export interface SendOptions {
  readonly transport?: Transport;
  /** The client disconnects when this resolves, answered or not. */
  readonly disconnectsAfter?: Promise<unknown> | undefined;
}

/** Ignores the error that a socket emits if it is closed while it opens. Without a listener the error would end the process. */
class QuietWebSocket extends WebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol);
    this.on('error', () => {});
  }
}

/** One device of one account, with both transports; it never reconnects after a cut request. */
export class OrderClient {
  readonly #server: OrderServer;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #socket: Client;

  constructor(server: OrderServer, token: string | null) {
    this.#server = server;
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` };
    this.#socket = createClient({
      url: server.webSocketUrl,
      webSocketImpl: QuietWebSocket,
      connectionParams: this.#headers,
      retryAttempts: 0,
      // The socket stays open between requests.
      lazyCloseTimeout: 60_000,
    });
  }

  place(request: OrderRequest, options?: SendOptions): Promise<Reply> {
    return this.#reply(placeMutation(request), options);
  }

  placedOrder(key: string, options?: SendOptions): Promise<Reply> {
    return this.#reply(placedOrderQuery(key), options);
  }

  /** `since`: when the key was made. By default it was made just now; null: the client does not know. */
  void(
    key: string,
    { since = justNow(), ...options }: SendOptions & { readonly since?: Date | null } = {},
  ): Promise<Reply> {
    return this.#reply(voidMutation(key, since?.toISOString()), options);
  }

  async send(
    message: GraphQLMessage,
    { transport = 'http', disconnectsAfter }: SendOptions = {},
  ): Promise<GraphQLBody | 'cut'> {
    return transport === 'http'
      ? this.post(JSON.stringify(message), disconnectsAfter)
      : this.#overSocket(message, disconnectsAfter);
  }

  close(): void {
    this.#socket.terminate();
  }

  async #reply(message: GraphQLMessage, options?: SendOptions): Promise<Reply> {
    const body = await this.send(message, options);
    return body === 'cut' ? { kind: 'cut' } : replyOf(body);
  }

  /** Sends a raw body, because JSON.stringify cannot write some numbers. */
  async post(body: string, disconnectsAfter?: Promise<unknown>): Promise<GraphQLBody | 'cut'> {
    const abort = new AbortController();
    void disconnectsAfter?.then(() => abort.abort());
    try {
      const response = await fetch(`${this.#server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.#headers },
        body,
        signal: abort.signal,
      });
      return (await response.json()) as GraphQLBody;
    } catch {
      return 'cut';
    }
  }

  #overSocket(
    message: GraphQLMessage,
    disconnectsAfter: Promise<unknown> | undefined,
  ): Promise<GraphQLBody | 'cut'> {
    const { promise, resolve } = Promise.withResolvers<GraphQLBody | 'cut'>();
    this.#socket.subscribe(
      { ...message },
      {
        next: (body) => resolve(body as GraphQLBody),
        // GraphQL errors arrive as a list. If the socket ends, the value is not a list.
        error: (failure) => resolve(Array.isArray(failure) ? { errors: failure } : 'cut'),
        complete: () => {},
      },
    );
    void disconnectsAfter?.then(() => this.#socket.terminate());
    return promise;
  }
}

/**
 * The date of a server in this process plus half of the tolerated clock difference. A key with this date is not older than
 * a server that has just started.
 */
export function justNow(): Date {
  return new Date(systemClock.date() + CLOCK_TOLERANCE_MS / 2);
}
