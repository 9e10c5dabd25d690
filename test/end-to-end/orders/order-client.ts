import {
  asking,
  type GraphQLBody,
  type GraphQLMessage,
  type OrderRequest,
  placing,
  type Reply,
  replyOf,
  voiding,
} from './order-request.ts';
import { OrderSocket } from './order-socket.ts';

export type Transport = 'http' | 'socket';

export interface OrderServer {
  readonly url: string;
  readonly webSocketUrl: string;
}

export interface SendOptions {
  readonly transport?: Transport;
  /** The client disconnects then, answered or not. */
  readonly disconnectsAfter?: Promise<unknown> | undefined;
}

/** One device of one account, with both transports. */
export class OrderClient {
  readonly #server: OrderServer;
  readonly #token: string | null;
  #socket: Promise<OrderSocket> | null = null;

  constructor(server: OrderServer, token: string | null) {
    this.#server = server;
    this.#token = token;
  }

  place(request: OrderRequest, options?: SendOptions): Promise<Reply> {
    return this.#reply(placing(request), options);
  }

  placed(key: string, options?: SendOptions): Promise<Reply> {
    return this.#reply(asking(key), options);
  }

  /** `since`: when the key was made, which is now where it is left out; null: its client does not know. */
  void(
    key: string,
    { since = new Date(), ...options }: SendOptions & { readonly since?: Date | null } = {},
  ): Promise<Reply> {
    return this.#reply(voiding(key, since?.toISOString()), options);
  }

  /** A string is sent as it is: some numbers cannot be written in another way. */
  async send(
    message: GraphQLMessage | string,
    { transport = 'http', disconnectsAfter }: SendOptions = {},
  ): Promise<GraphQLBody | 'cut'> {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return transport === 'http'
      ? this.#post(text, disconnectsAfter)
      : this.#overSocket(text, disconnectsAfter);
  }

  async close(): Promise<void> {
    (await this.#socket?.catch(() => null))?.terminate();
  }

  async #reply(message: GraphQLMessage, options?: SendOptions): Promise<Reply> {
    const body = await this.send(message, options);
    return body === 'cut' ? { kind: 'cut' } : replyOf(body);
  }

  async #post(
    message: string,
    disconnectsAfter: Promise<unknown> | undefined,
  ): Promise<GraphQLBody | 'cut'> {
    const abort = new AbortController();
    void disconnectsAfter?.then(() => abort.abort());
    try {
      const response = await fetch(`${this.#server.url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }),
        },
        body: message,
        signal: abort.signal,
      });
      return (await response.json()) as GraphQLBody;
    } catch {
      return 'cut';
    }
  }

  async #overSocket(
    message: string,
    disconnectsAfter: Promise<unknown> | undefined,
  ): Promise<GraphQLBody | 'cut'> {
    const socket = await this.#openSocket();
    if (socket === null) return 'cut';
    const answer = socket.ask(message);
    if (disconnectsAfter === undefined) return answer;
    const left = await Promise.race([answer, disconnectsAfter.then(() => null)]);
    if (left !== null) return left;
    socket.terminate();
    return 'cut';
  }

  async #openSocket(): Promise<OrderSocket | null> {
    const before = await this.#socket?.catch(() => null);
    if (before?.isOpen) return before;
    const opening = OrderSocket.open(this.#server.webSocketUrl, this.#token);
    this.#socket = opening;
    return opening.catch(() => null);
  }
}
