import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ByteCollector } from '../../../lib/byte-collector.ts';
import { steadyClock } from '../../../lib/clock.ts';
import { TokenBucket } from '../../../lib/limits/token-bucket.ts';
import type { Registry } from '../../../lib/metrics/registry.ts';
import type { Readiness } from './readiness.ts';

interface AdminAnswer {
  readonly status: number;
  readonly body: object;
}

/** The doors to which operators' programs post JSON, by path. */
export type AdminDoors = Readonly<Record<string, (body: unknown) => Promise<AdminAnswer>>>;

const MAX_BODY_BYTES = 64 * 1024;
const POSTS_PER_SECOND = 20;

/** The operators' listener: metrics and details that the public must not see. `build` tells replicas apart. */
export function createAdminServer(
  metrics: Registry,
  readiness: Readiness,
  build: Readonly<Record<'version' | 'revision', string>>,
  doors: AdminDoors,
): Server {
  const rule = { max: POSTS_PER_SECOND, perMs: POSTS_PER_SECOND / 1000, maxDebt: 0 };
  const posts = new TokenBucket(rule, steadyClock.now());

  async function post(request: IncomingMessage, path: string): Promise<AdminAnswer> {
    // A page in an operator's browser may send no JSON here without being asked for leave first, which nobody gives.
    const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');
    if (request.method !== 'POST') return refusal(405, 'POST it');
    if (!isJson) return refusal(415, 'send application/json');
    if (posts.left(steadyClock.now()) < 1) return refusal(429, 'too many at once');
    posts.take(1, steadyClock.now());
    const bytes = await bodyOf(request);
    if (bytes === null) return refusal(413, `send ${MAX_BODY_BYTES} bytes at most`);
    try {
      return (
        (await doors[path]?.(JSON.parse(bytes.toString('utf8')))) ?? refusal(404, 'no such path')
      );
    } catch (error) {
      if (error instanceof SyntaxError) return refusal(400, 'it is no JSON');
      throw error;
    }
  }

  return createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    switch (path) {
      case '/metrics':
        metrics.text().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
        return;
      case '/health/live':
        sendJson(response, 200, { status: 'ok' });
        return;
      case '/health/ready': {
        const { status, body } = readiness.report();
        sendJson(response, status, { ...body, ...build });
        return;
      }
      default:
        if (!Object.hasOwn(doors, path)) response.writeHead(404).end();
        else
          post(request, path).then(
            ({ status, body }) => sendJson(response, status, body),
            () => response.writeHead(500).end(),
          );
    }
  });
}

/** Null where it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const collector = new ByteCollector({ maxBytes: MAX_BODY_BYTES });
  let isWhole = true;
  // A body that is too large is read on, for a while, so that its sender hears why.
  for await (const piece of request) isWhole = isWhole && collector.add(piece) === 'kept';
  return isWhole ? collector.take() : null;
}

function refusal(status: number, error: string): AdminAnswer {
  return { status, body: { error } };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  if (status === 429) response.setHeader('retry-after', '1');
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
