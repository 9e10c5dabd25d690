import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import type { TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';

export interface Message {
  readonly id?: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever its own query asked for
  readonly payload?: any;
}

/** A socket that says just what a test tells it to, by the rules of the protocol or against them. */
export class RawSocket {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  /** How the other end closed it. */
  closed: { readonly code: number; readonly reason: string } | null = null;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    socket.on('error', () => {});
    socket.once('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, variables: Record<string, unknown> = {}): void {
    this.say({ id, type: 'subscribe', payload: { query, variables } });
  }

  /** What came for one operation. */
  of(id: string): Message[] {
    return this.messages.filter((message) => message.id === id);
  }

  async until(id: string, type: string): Promise<Message> {
    const found = () => this.of(id).find((message) => message.type === type);
    await eventually(() => found() !== undefined);
    return found() as Message;
  }

  async close(): Promise<{ readonly code: number; readonly reason: string }> {
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
  const raw = new RawSocket(new WebSocket(webSocketUrl, [...protocols], options));
  await once(raw.socket, 'open');
  return raw;
}

/** Open, and past its greeting. */
export async function greetedSocket(
  app: Pick<TestApp, 'webSocketUrl'>,
  token?: string,
): Promise<RawSocket> {
  const raw = await openSocket(app);
  const payload = token === undefined ? {} : { authorization: `Bearer ${token}` };
  raw.say({ type: 'connection_init', payload });
  await eventually(() => raw.messages.some(({ type }) => type === 'connection_ack'));
  return raw;
}
