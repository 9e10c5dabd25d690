import { initializedSocket } from '../end-to-end/live/raw-socket.ts';
import type { PublicError, TestApp } from './app.ts';
import { eventually } from './eventually.ts';
import { readUntil } from './read-until.ts';

export const TRANSPORTS = ['POST', 'GET', 'event stream', 'WebSocket'] as const;
export type Transport = (typeof TRANSPORTS)[number];

export type Server = Pick<TestApp, 'url' | 'webSocketUrl'>;

/** What the JSON of a request contains. */
export interface RequestJson {
  readonly query?: unknown;
  readonly variables?: unknown;
  readonly documentId?: string;
  readonly extensions?: unknown;
  readonly operationName?: string;
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever shape its own query asked for
  readonly data?: any;
  readonly errors?: readonly PublicError[];
  readonly extensions?: {
    readonly cost?: number;
    readonly fields?: number;
    readonly gateway?: readonly unknown[];
  };
}

export interface Sent {
  /** Null over a socket, which has no status. */
  readonly status: number | null;
  readonly headers: Headers;
  readonly data: Answer['data'];
  readonly errors: readonly PublicError[];
  /** The only result, or the first of a subscription. */
  readonly answer: Answer;
  /** The whole answer, unparsed. */
  readonly text: string;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The data of an event in an event stream. */
const EVENT = /^data: ?(\{.*\})\n/m;

/** Sends an operation, and reads its only result, or the first of a subscription. */
export async function send(
  app: Server,
  transport: Transport,
  request: string | RequestJson,
  { token, headers = {} }: SendOptions = {},
): Promise<Sent> {
  const message = typeof request === 'string' ? { query: request } : request;
  if (transport === 'WebSocket') return sendBySocket(app, message, token);
  const isGet = transport === 'GET';
  const response = await fetch(`${app.url}/graphql${isGet ? `?${searchOf(message)}` : ''}`, {
    method: isGet ? 'GET' : 'POST',
    headers: {
      accept: transport === 'event stream' ? 'text/event-stream' : 'application/json',
      ...(!isGet && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(!isGet && { body: JSON.stringify(message) }),
  });
  const type = response.headers.get('content-type') ?? '';
  const isEvents = type.startsWith('text/event-stream');
  const text = await readUntil(response.body, (read) => isEvents && EVENT.test(read));
  const firstEvent = EVENT.exec(text)?.[1] ?? '{}';
  const body = type.includes('json') ? text : '{}';
  const answer: Answer = JSON.parse(isEvents ? firstEvent : body);
  const { data, errors = [] } = answer;
  return { status: response.status, headers: response.headers, data, errors, answer, text };
}

async function sendBySocket(app: Server, payload: RequestJson, token?: string): Promise<Sent> {
  using socket = await initializedSocket(app, token);
  socket.send({ id: '1', type: 'subscribe', payload });
  await eventually(() => socket.closed !== null || socket.messagesOf('1').length > 0);
  const [message] = socket.messagesOf('1');
  if (message === undefined) throw new Error(`closed: ${JSON.stringify(socket.closed)}`);
  const answer: Answer = message.type === 'error' ? { errors: message.payload } : message.payload;
  const { data, errors = [] } = answer;
  const text = JSON.stringify(message.payload);
  return { status: null, headers: new Headers(), data, errors, answer, text };
}

function searchOf(message: RequestJson): URLSearchParams {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return new URLSearchParams(Object.entries(message).map(([name, value]) => [name, textOf(value)]));
}
