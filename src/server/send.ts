import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

type Encoding = keyof typeof compressors;

// Below this the saving is less than the cost.
const COMPRESS_FROM_BYTES = 1024;
const UNREAD_MS = 30_000;
// Answers are made anew each time: a fast pass, not the smallest result.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Sends a whole body, compressed as the client accepts. Compression runs off the event loop. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string | Buffer,
): Promise<void> {
  let bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const encoding =
    bytes.length > COMPRESS_FROM_BYTES
      ? preferredEncoding(request.headers['accept-encoding'])
      : null;
  if (encoding !== null) {
    bytes = await (encoding === 'br' ? compressors.br(bytes, BROTLI) : compressors.gzip(bytes));
    response.setHeader('content-encoding', encoding);
  }
  response.setHeader('content-length', bytes.length);
  response.writeHead(status);
  response.end(request.method === 'HEAD' ? undefined : bytes);
  cutUnread(request);
}

/** The same for a body that may be held compressed already. */
export async function sendPacked(
  request: IncomingMessage,
  response: ServerResponse,
  body: (encoding: Encoding | null) => Buffer | Promise<Buffer>,
): Promise<void> {
  const plain = await body(null);
  const encoding =
    plain.length > COMPRESS_FROM_BYTES
      ? preferredEncoding(request.headers['accept-encoding'])
      : null;
  const bytes = await body(encoding);
  // The very same bytes where the answer is not held: then it is packed like any other.
  if (encoding === null || bytes === plain) return send(request, response, 200, plain);
  response.setHeader('content-encoding', encoding);
  response.setHeader('content-length', bytes.length);
  response.writeHead(200);
  response.end(bytes);
  cutUnread(request);
}

/** Who asks for large answers and takes no byte of them must not make us hold them. */
function cutUnread({ socket }: IncomingMessage): void {
  if (socket.writableLength > 0) socket.setTimeout(UNREAD_MS);
}

/** The smaller of the two that the client names and does not weigh with 0. */
export function preferredEncoding(accepted: string | string[] | undefined): Encoding | null {
  const weights = new Map<string, number>();
  for (const part of String(accepted ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';');
    const weight = parameters.find((parameter) => parameter.trim().startsWith('q='));
    weights.set(name.trim().toLowerCase(), weight ? Number(weight.trim().slice(2)) : 1);
  }
  const accepts = (name: Encoding) => (weights.get(name) ?? 0) > 0;
  if (accepts('br')) return 'br';
  return accepts('gzip') ? 'gzip' : null;
}
