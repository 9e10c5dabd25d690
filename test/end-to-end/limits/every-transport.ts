import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { PublicError, TestApp } from '../../support/app.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { readUntil } from '../../support/read-until.ts';

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

export type Ask = (
  app: Pick<TestApp, 'url' | 'webSocketUrl'>,
  asked: Asked,
  token?: string,
) => Promise<Answer>;

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

async function askByPost(app: Pick<TestApp, 'url'>, asked: Asked, token?: string): Promise<Answer> {
  const { text } = await rawRequest(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify(asked),
  });
  return JSON.parse(text);
}

async function askByGet(app: Pick<TestApp, 'url'>, asked: Asked, token?: string): Promise<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const { text } = await rawRequest(`${app.url}/graphql?${query}`, { headers: bearer(token) });
  return JSON.parse(text);
}

/** Returns the first event, or the answer where there is no stream. */
async function askByStream(
  app: Pick<TestApp, 'url'>,
  asked: Asked,
  token?: string,
): Promise<Answer> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...bearer(token),
    },
    body: JSON.stringify(asked),
  });
  const text = await readUntil(response.body, (read) => EVENT.test(read));
  return JSON.parse(EVENT.exec(text)?.[1] ?? text);
}

async function askBySocket(
  app: Pick<TestApp, 'webSocketUrl'>,
  asked: Asked,
  token?: string,
): Promise<Answer> {
  const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
  try {
    await once(socket, 'open');
    const said: { type: string; payload: never }[] = [];
    const answer = new Promise<Answer>((resolve, reject) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        said.push(message);
        if (message.type === 'next') resolve(message.payload);
        if (message.type === 'error') resolve({ errors: message.payload });
        if (message.type === 'connection_ack') {
          socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: asked }));
        }
      });
      socket.once('close', (code, reason) => reject(new Error(`closed: ${code} ${reason}`)));
      socket.once('error', reject);
    });
    socket.send(JSON.stringify({ type: 'connection_init', payload: bearer(token) }));
    return await answer;
  } finally {
    socket.terminate();
  }
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
