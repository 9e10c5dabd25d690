import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The answer of an operation, before a fault may corrupt it. */
export interface Reply {
  readonly status: number;
  readonly body: Buffer | string;
  readonly headers?: OutgoingHttpHeaders;
  /** Resets the connection in place of this answer. */
  readonly lost?: boolean;
}

const MAX_BODY_BYTES = 1_048_576;

export function json(status: number, body: unknown): Reply {
  return { status, body: JSON.stringify(body) };
}

/** Reads the request's body; null if it is too large, or aborted. */
export function readBody(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    // A large body is read to its end. After an earlier answer, the rest of the body would reset the connection.
    request.on('end', () => resolve(bytes > MAX_BODY_BYTES ? null : Buffer.concat(chunks)));
    request.on('close', () => resolve(null));
    request.on('error', () => resolve(null));
  });
}

/** Returns undefined if the text is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Sends an answer, unless the client has disconnected. */
export function respond(response: ServerResponse, reply: Reply): void {
  if (response.destroyed) return;
  if (reply.lost) {
    reset(response);
    return;
  }
  if (reply.status === 304 || reply.status === 204) {
    response.writeHead(reply.status, reply.headers).end();
    return;
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
  const length = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { ...headers, 'content-length': length }).end(reply.body);
}

/** Resets the connection (RST, not FIN), as a crashed process or a firewall does. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
