import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { PublicError, TestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw-request.ts';

/** What a client sends, as JSON would hold it; `raw` stands for a body that is no object. */
export interface Asked {
  readonly query?: unknown;
  readonly variables?: unknown;
  readonly documentId?: string;
  readonly extensions?: unknown;
  readonly operationName?: string;
}

export interface Told {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it asked for
  readonly data?: any;
  readonly errors?: readonly PublicError[];
  readonly extensions?: { readonly cost?: number; readonly gateway?: readonly unknown[] };
}

export type Ask = (
  app: Pick<TestApp, 'url' | 'webSocketUrl'>,
  asked: Asked,
  token?: string,
) => Promise<Told>;

/** Every way into the graph. */
export const DOORS: readonly (readonly [string, Ask])[] = [
  ['POST', askByPost],
  ['GET', askByGet],
  ['an event stream', askByStream],
  ['WebSocket', askBySocket],
];

export function codesOf({ errors = [] }: Told): string[] {
  return errors.map(({ extensions }) => extensions.code);
}

async function askByPost(app: Pick<TestApp, 'url'>, asked: Asked, token?: string): Promise<Told> {
  const { text } = await rawRequest(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify(asked),
  });
  return JSON.parse(text);
}

async function askByGet(app: Pick<TestApp, 'url'>, asked: Asked, token?: string): Promise<Told> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const { text } = await rawRequest(`${app.url}/graphql?${query}`, { headers: bearer(token) });
  return JSON.parse(text);
}

/** The first event, or the answer where there is no stream. */
async function askByStream(app: Pick<TestApp, 'url'>, asked: Asked, token?: string): Promise<Told> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...bearer(token),
    },
    body: JSON.stringify(asked),
  });
  let text = '';
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const event = /^data: ?(\{.*\})$/m.exec(text);
    // To stop reading is to leave the stream.
    if (event) return JSON.parse(event[1] ?? '');
  }
  return JSON.parse(text);
}

async function askBySocket(
  app: Pick<TestApp, 'webSocketUrl'>,
  asked: Asked,
  token?: string,
): Promise<Told> {
  const socket = new WebSocket(app.webSocketUrl, 'graphql-transport-ws');
  try {
    await once(socket, 'open');
    const said: { type: string; payload: never }[] = [];
    const heard = new Promise<Told>((resolve, reject) => {
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
    return await heard;
  } finally {
    socket.terminate();
  }
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
