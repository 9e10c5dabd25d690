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
  /** Left out: a connection of its own. */
  readonly agent?: Agent;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it came: not unpacked. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** The head of an answer, whose body is still to be read; `destroy` ends its connection, as a client that leaves does. */
export async function rawResponse(
  url: string,
  { method = 'GET', headers = {}, body, agent }: RawRequest = {},
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers, agent: agent ?? false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  // Whoever reads the body is told of a connection that ends meanwhile.
  outgoing.on('error', () => {});
  return response;
}

/** One request with exactly these headers, none added: fetch adds its own and unpacks answers. */
export async function rawRequest(url: string, options: RawRequest = {}): Promise<RawAnswer> {
  const response = await rawResponse(url, options);
  const bytes = await buffer(response);
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, bytes, text: String(bytes) };
}

/** A POST of JSON, or of what is not quite JSON. */
export function rawPost(
  url: string,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): Promise<RawAnswer> {
  const all = { 'content-type': 'application/json', ...headers };
  return rawRequest(url, { method: 'POST', headers: all, body });
}
