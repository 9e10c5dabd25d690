import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import type { Readiness } from '../lib/readiness.ts';

/** The operators' listener: metrics and details that the public must not see. `build` distinguishes replicas. */
export function createAdminServer(
  metrics: Registry,
  readiness: Readiness,
  build: Readonly<Record<'version' | 'revision', string>>,
): Server {
  return createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    switch (path) {
      case '/metrics':
        metrics.metrics().then(
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
        response.writeHead(404).end();
    }
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
