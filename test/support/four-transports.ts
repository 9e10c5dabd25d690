import { initializedSocket } from '../end-to-end/live/raw-socket.ts';
import type { PublicError, TestApp } from './app.ts';
import { readUntil } from './read-until.ts';

export const TRANSPORTS = ['POST', 'GET', 'event stream', 'WebSocket'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface Sent {
  /** Null over a socket, which has none. */
  readonly status: number | null;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape its own query asked for
  readonly data: any;
  readonly errors: readonly PublicError[];
  /** The whole answer, as it came. */
  readonly text: string;
}

export interface SendOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends an operation, and reads its only result, or the first of a subscription. */
export async function send(
  app: TestApp,
  transport: Transport,
  query: string,
  { token, headers = {} }: SendOptions = {},
): Promise<Sent> {
  if (transport === 'WebSocket') return sendBySocket(app, query, token);
  const isGet = transport === 'GET';
  const address = `${app.url}/graphql${isGet ? `?query=${encodeURIComponent(query)}` : ''}`;
  const isStream = transport === 'event stream';
  const response = await fetch(address, {
    method: isGet ? 'GET' : 'POST',
    headers: {
      accept: isStream ? 'text/event-stream' : 'application/json',
      ...(!isGet && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(!isGet && { body: JSON.stringify({ query }) }),
  });
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isEvents
    ? await readUntil(response.body, (read) => /^data: .*\n\n/m.test(read))
    : await response.text();
  const json = isEvents ? /^data: (.*)$/m.exec(text)?.[1] : text;
  const isJson = isEvents || response.headers.get('content-type')?.includes('json');
  const { data, errors = [] } = isJson && json ? JSON.parse(json) : {};
  return { status: response.status, headers: response.headers, data, errors, text };
}

async function sendBySocket(app: TestApp, query: string, token?: string): Promise<Sent> {
  using socket = await initializedSocket(app, token);
  socket.subscribe('1', query);
  const { type, payload } = await Promise.race([
    socket.until('1', 'next'),
    socket.until('1', 'error'),
    socket.close().then(({ code }) => {
      throw new Error(`the socket was closed by ${code}`);
    }),
  ]);
  const isError = type === 'error';
  return {
    status: null,
    headers: new Headers(),
    data: isError ? undefined : payload.data,
    errors: isError ? payload : (payload.errors ?? []),
    text: JSON.stringify(payload),
  };
}
