import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface RawRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
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

/** One request with exactly these headers, none added: fetch adds its own and unpacks answers. */
export function rawRequest(
  url: string,
  { method = 'GET', headers = {}, body, agent }: RawRequest = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: agent ?? false }, async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const bytes = Buffer.concat(chunks);
        const { statusCode = 0 } = response;
        resolve({ status: statusCode, headers: response.headers, bytes, text: String(bytes) });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
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
