import { once } from 'node:events';
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface RawRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
  /** By default a new connection. */
  readonly agent?: Agent;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they arrived, still compressed. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** The head of an answer whose body is not read yet; `destroy` ends its connection, like a client that leaves. */
export async function rawResponse(
  url: string,
  { method = 'GET', headers = {}, body, agent }: RawRequest = {},
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers, agent: agent ?? false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  // The reader of the body gets the error of a lost connection.
  outgoing.on('error', () => {});
  return response;
}

/** Sends a request with exactly these headers. `fetch` would add other headers, and decompress the answer. */
export async function rawRequest(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  const response = await rawResponse(url, options);
  const bytes = await buffer(response);
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, bytes, text: String(bytes) };
}

/** A POST of JSON, or of almost valid JSON. */
export function rawPost(
  url: string,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): Promise<RawAnswer> {
  const all = { 'content-type': 'application/json', ...headers };
  return rawRequest(url, { method: 'POST', headers: all, body });
}
