import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

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

/** A check for each reason code. It returns the detail if degraded; otherwise null. The public sees the codes alone. */
type Checks = Readonly<Record<string, () => string | null>>;

/** The state that health checks report: whether to send traffic here, and the reasons for `degraded`. */
export class Readiness {
  phase: 'starting' | 'serving' | 'draining' = 'starting';
  readonly #checks: Checks;

  constructor(checks: Checks) {
    this.#checks = checks;
  }

  /** Whether each part is degraded, by its code. */
  get parts(): [code: string, isDegraded: () => boolean][] {
    return Object.entries(this.#checks).map(([code, check]) => [code, () => check() !== null]);
  }

  /** Degraded replicas keep their traffic: a failing backend affects all. Details name hosts, so only operators see them. */
  report() {
    if (this.phase !== 'serving') return { status: 503, body: { status: this.phase } };
    const details = Object.entries(this.#checks).flatMap(([code, check]) => {
      const detail = check();
      return detail === null ? [] : [{ code, detail }];
    });
    if (details.length === 0) return { status: 200, body: { status: 'ok' } };
    const reasons = details.map(({ code }) => code);
    return { status: 200, body: { status: 'degraded', reasons, details } };
  }
}
