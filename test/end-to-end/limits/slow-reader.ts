import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestApp } from '../../support/app.ts';

export const MEGABYTE = 1_048_576;

const STATUS_LINE_BYTES = 13;

/** Settings for tests of slow readers: requests may be as long as their answers. */
export const LONG_QUESTIONS = {
  MAX_BODY_BYTES: String(24 * MEGABYTE),
  MAX_COST: '100000000',
  COST_LIMIT_PER_MINUTE: '1000000000',
  // What is sent is bounded as well, by its rate …
  RATE_LIMIT_PER_MINUTE: '1000000',
};
/** … and by what has not arrived whole. */
export const ROOMY = { unfinishedBytes: 1024 * MEGABYTE };

/** More than a kernel buffers for a connection, so that the facade buffers the rest. */
export const UNTAKEN_BYTES = 12 * MEGABYTE;

export interface SlowReader extends Disposable {
  readonly socket: Socket;
  readonly isClosed: boolean;
  /** The status lines read. */
  readonly statuses: readonly string[];
  read(): void;
}

/** A connection that reads nothing until `read` is called. */
export async function openSlowReader(url: string): Promise<SlowReader> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let isClosed = false;
  const statuses: string[] = [];
  socket.on('error', () => {});
  socket.once('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return {
    socket,
    statuses,
    get isClosed() {
      return isClosed;
    },
    read() {
      let rest = '';
      socket.on('data', (data) => {
        const parts = `${rest}${data.toString('latin1')}`.split(/HTTP\/1\.1 (\d+) /);
        for (let at = 1; at < parts.length; at += 2) statuses.push(parts[at] as string);
        // A status line can be received in two chunks.
        rest = (parts.at(-1) as string).slice(-STATUS_LINE_BYTES);
      });
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** A field whose answer is as long as its request. */
export function longField(bytes: number): string {
  return `${'a'.repeat(bytes)}: __typename`;
}

export interface Post {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The bytes of a POST. */
export function postOf(query: string, { token, headers = {} }: Post = {}): string {
  const body = JSON.stringify({ query });
  const all = {
    host: 'facade',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /graphql HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Sends a request, and does not read its answer. */
export async function askAndStall(
  app: Pick<TestApp, 'url'>,
  query: string,
  post: Post = {},
): Promise<SlowReader> {
  const reader = await openSlowReader(app.url);
  reader.socket.write(postOf(query, post));
  return reader;
}

/** Reads a metric of the admin port; one with a label that has not occurred yet is 0. */
export async function figure(
  { adminUrl }: Pick<TestApp, 'adminUrl'>,
  name: string,
): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`trading_graph_${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

export const unreadBytes = (app: TestApp) => figure(app, 'send_buffer_bytes');
export const cuts = (app: TestApp, reason: 'idle') =>
  figure(app, `readers_cut_total{reason="${reason}"}`);
