import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import type { TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { CHANGES } from './watcher.ts';

export interface Message {
  readonly id?: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own query asked for
  readonly payload?: any;
}

/** A WebSocket without a client library, which can send any message, valid or not. */
export class RawSocket {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  /** The close frame of the server. */
  closed: { readonly code: number; readonly reason: string } | null = null;
  #error: Error | null = null;
  /** For `eventually`: the end of the socket fails the wait. */
  readonly whileOpen = { ended: () => this.closed && (this.#error ?? this.closed) };

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  /** The underlying connection, for bytes that no WebSocket would send. */
  get stream(): Socket {
    return (this.socket as unknown as { _socket: Socket })._socket;
  }

  /** Sends a message. A text is sent unchanged. */
  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, variables: Record<string, unknown> = {}): void {
    this.send({ id, type: 'subscribe', payload: { query, variables } });
  }

  /** The messages received for one operation. */
  messagesOf(id: string): Message[] {
    return this.messages.filter((message) => message.id === id);
  }

  /** Waits for a message of this type for one operation. */
  async until(id: string, type: string): Promise<Message> {
    const isOfType = (message: Message) => message.type === type;
    await eventually(() => this.messagesOf(id), {
      until: (of) => of.some(isOfType),
      ...this.whileOpen,
    });
    return this.messagesOf(id).find(isOfType) as Message;
  }

  /** Starts a subscription, and waits for its first event, by which the socket's token is proved. */
  async watch(id: string, query = CHANGES): Promise<Message> {
    this.subscribe(id, query);
    return this.until(id, 'next');
  }

  /** Waits until the server has closed the socket; returns its close frame. */
  async untilClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    await eventually(() => this.closed !== null);
    return this.closed as { code: number; reason: string };
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}

export async function openSocket(
  { webSocketUrl }: Pick<TestApp, 'webSocketUrl'>,
  protocols: readonly string[] = ['graphql-transport-ws'],
  options: ClientOptions = {},
): Promise<RawSocket> {
  // Disables compression, so that messages have their full size on the wire.
  const plain = { perMessageDeflate: false, ...options };
  const raw = new RawSocket(new WebSocket(webSocketUrl, [...protocols], plain));
  await once(raw.socket, 'open');
  return raw;
}

/** Opens a socket and waits for `connection_ack`. */
export async function initializedSocket(
  app: Pick<TestApp, 'webSocketUrl'>,
  token?: string,
  options: ClientOptions = {},
): Promise<RawSocket> {
  const raw = await openSocket(app, undefined, options);
  const payload = token === undefined ? {} : { authorization: `Bearer ${token}` };
  raw.send({ type: 'connection_init', payload });
  await eventually(() => raw.messages, {
    until: (messages) => messages.some(({ type }) => type === 'connection_ack'),
    ...raw.whileOpen,
  });
  return raw;
}
