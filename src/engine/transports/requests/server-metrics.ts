import type { MetricsRegistry } from '../../../lib/metrics.ts';
import type { RequestOutcome, RequestSummary, Transport } from '../../operation/request-summary.ts';
import { CUTS } from '../connections/open-connections.ts';

const TRANSPORTS: readonly Transport[] = ['http', 'sse', 'websocket'];
const OUTCOMES: readonly RequestOutcome[] = ['ok', 'caller', 'refused', 'fault', 'gone'];
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class ServerMetrics {
  readonly connectionsCut;
  readonly #operations;
  readonly #seconds;

  constructor(registry: MetricsRegistry) {
    const labels = { transport: TRANSPORTS, outcome: OUTCOMES };
    this.#operations = registry.counter(
      'operations_total',
      'GraphQL requests that have ended.',
      labels,
    );
    this.#seconds = registry.histogram(
      'request_seconds',
      'Duration of queries and mutations.',
      SECONDS,
      labels,
    );
    this.connectionsCut = registry.counter(
      'connections_cut_total',
      'Connections closed because of what they sent or left unread.',
      { reason: [...CUTS, 'pipelined'] },
    );
  }

  requestEnded({ transport, outcome, hasStarted }: RequestSummary, durationMs: number) {
    this.#operations.inc({ transport, outcome });
    // The lifetime of a subscription does not measure the service's speed.
    if (!hasStarted) this.#seconds.observe({ transport, outcome }, durationMs / 1000);
  }
}
