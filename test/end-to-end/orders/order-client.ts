import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
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

  /** Tests name keys. */
  placedOrder(name: string, options?: SendOptions): Promise<Reply> {
    return this.#reply(placedOrderQuery(name), options);
  }

  void(name: string, options?: SendOptions): Promise<Reply> {
    return this.#reply(voidMutation(name), options);
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
