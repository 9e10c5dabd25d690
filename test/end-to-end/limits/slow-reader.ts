import type { TestApp } from '../../support/app.ts';
import { openRaw, type RawConnection } from '../chaos/raw-connection.ts';
import { seriesValue } from '../operations/scraped.ts';

export const MEGABYTE = 1_048_576;

const INSTRUMENTS = 5_000;
/** The length of a response key. It can be 255. */
const KEY_LENGTH = 250;

/** Settings for tests of slow readers: requests and answers may be long. */
export const LONG_ANSWERS = {
  MAX_BODY_BYTES: String(24 * MEGABYTE),
  SANDBOX_INSTRUMENTS: String(INSTRUMENTS),
  MAX_COST: '100000000',
  // Sent bytes count towards this limit.
  RATE_LIMIT_PER_MINUTE: '1000000',
};
/** A limit of buffered bytes that these tests do not reach. */
export const ROOMY = { heldBytes: 1024 * MEGABYTE };

/** More than the kernel buffers for a connection, so that the facade buffers the rest. */
export const UNTAKEN_BYTES = 12 * MEGABYTE;

/** A connection that reads nothing until its socket is resumed. */
export async function openSlowReader(url: string): Promise<RawConnection> {
  const raw = await openRaw(url);
  raw.socket.pause();
  return raw;
}

/** The status codes of the answers that have been read. */
export function statusesIn({ received }: RawConnection): string[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status);
}

/** A field whose answer has at least this many bytes. */
export function longField(bytes: number): string {
  const count = Math.ceil(bytes / (INSTRUMENTS * KEY_LENGTH));
  const keys = Array.from({ length: count }, (_, index) => `a${index}`.padEnd(KEY_LENGTH, 'a'));
  return `catalog { instruments { ${keys.map((key) => `${key}: id`).join(' ')} } }`;
}

/** A document of this many bytes with a short answer. */
export function longDocument(bytes: number): string {
  return `{ __typename } # ${'a'.repeat(bytes)}`;
}

export interface Post {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The bytes of a POST. */
export function postOf(query: string, { token, headers = {} }: Post = {}): string {
  const body = JSON.stringify({ query });
  const allHeaders = {
    host: 'facade',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
  };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /graphql HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Sends a request without reading its answer. */
export async function askAndStall(
  app: Pick<TestApp, 'url'>,
  query: string,
  post: Post = {},
): Promise<RawConnection> {
  const reader = await openSlowReader(app.url);
  reader.socket.write(postOf(query, post));
  return reader;
}

export const unreadBytes = (app: TestApp) => seriesValue(app, 'send_buffer_bytes');
export const cuts = (app: TestApp, reason: 'unread' | 'bytes') =>
  seriesValue(app, `connections_cut_total{reason="${reason}"}`);
