import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

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
