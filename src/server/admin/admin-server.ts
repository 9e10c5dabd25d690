import { createServer, type Server } from 'node:http';
import type { Metrics } from '../../lib/metrics.ts';
import { listen } from '../listen.ts';
import type { Readiness } from './readiness.ts';

/** The operators' listener: metrics that must not show on the public port. */
export class AdminServer {
  readonly #server: Server;

  constructor(metrics: Metrics, readiness: Readiness) {
    this.#server = createServer((request, response) => {
      const path = request.url?.split('?', 1)[0];
      if (path === '/metrics') {
        metrics.text().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
        return;
      }
      if (path === '/health/ready') {
        const { status, body } = readiness.report();
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
        return;
      }
      response.writeHead(404).end();
    });
  }

  listen(port: number, host: string): Promise<number> {
    return listen(this.#server, port, host);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
