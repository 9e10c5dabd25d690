import type { PublicError, TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { readUntil } from '../../support/read-until.ts';
import { initializedSocket } from '../live/raw-socket.ts';

/** The JSON of a request. */
export interface Asked {
  readonly query?: unknown;
  readonly variables?: unknown;
  readonly documentId?: string;
  readonly extensions?: unknown;
  readonly operationName?: string;
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it asked for
  readonly data?: any;
  readonly errors?: readonly PublicError[];
  readonly extensions?: { readonly cost?: number; readonly gateway?: readonly unknown[] };
}

type Server = Pick<TestApp, 'url' | 'webSocketUrl'>;
export type Ask = (app: Server, asked: Asked, token?: string) => Promise<Answer>;

const EVENT = /^data: ?(\{.*\})\n/m;

/** Every transport of the graph. */
export const TRANSPORTS: readonly (readonly [string, Ask])[] = [
  ['POST', askByPost],
  ['GET', askByGet],
  ['an event stream', askByStream],
  ['WebSocket', askBySocket],
];

export function codesOf({ errors = [] }: Answer): string[] {
  return errors.map(({ extensions }) => extensions.code);
}

async function askByPost({ url }: Server, asked: Asked, token?: string): Promise<Answer> {
  const { text } = await rawRequest(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify(asked),
  });
  return JSON.parse(text);
}

async function askByGet({ url }: Server, asked: Asked, token?: string): Promise<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const { text } = await rawRequest(`${url}/graphql?${query}`, { headers: bearer(token) });
  return JSON.parse(text);
}

/** Returns the first event, or the answer where there is no stream. */
async function askByStream({ url }: Server, asked: Asked, token?: string): Promise<Answer> {
  const accept = 'text/event-stream';
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...bearer(token) },
    body: JSON.stringify(asked),
  });
  const text = await readUntil(response.body, (read) => EVENT.test(read));
  return JSON.parse(EVENT.exec(text)?.[1] ?? text);
}

async function askBySocket(app: Server, asked: Asked, token?: string): Promise<Answer> {
  using raw = await initializedSocket(app, token);
  raw.say({ id: '1', type: 'subscribe', payload: asked });
  await eventually(() => raw.closed !== null || raw.of('1').length > 0);
  const [message] = raw.of('1');
  if (message === undefined) throw new Error(`closed: ${JSON.stringify(raw.closed)}`);
  return message.type === 'error' ? { errors: message.payload } : message.payload;
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
