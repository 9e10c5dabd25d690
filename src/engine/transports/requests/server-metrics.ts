import {
  byName,
  type Count,
  type Distribution,
  type Registry,
} from '../../../lib/metrics/registry.ts';
import type {
  RequestEnd,
  RequestOutcome,
  RequestSummary,
  Transport,
} from '../../operation/request-summary.ts';
import { CLOSINGS } from '../connections/closings.ts';
import { CUTS } from '../connections/open-connections.ts';

const TRANSPORTS: readonly Transport[] = ['http', 'sse', 'websocket'];
const OUTCOMES: readonly RequestOutcome[] = ['ok', 'caller', 'refused', 'fault', 'gone'];
const TYPES = ['query', 'mutation', 'subscription', 'none'] as const;
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
// Clients and `ws` itself close with others than ours.
const CLOSE_CODES: ReadonlySet<number> = new Set([
  1000,
  1001,
  1002,
  1005,
  1006,
  1007,
  1011,
  ...Object.values(CLOSINGS).map(([code]) => code),
]);
/** Above this the operations of a manifest count as `other`: each has dozens of series. */
const MAX_DOCUMENTS = 50;
const OTHER = 'other';

interface DocumentSeries {
  readonly seconds: Distribution;
  readonly outcomes: Readonly<Record<Transport, Readonly<Record<RequestOutcome, Count>>>>;
}

export type ServerMetrics = ReturnType<typeof createServerMetrics>;

/** The metrics of requests and connections. */
export function createServerMetrics(registry: Registry) {
  const http = registry.counter('http_requests_total', 'HTTP requests by status class.', {
    status: ['2xx', '3xx', '4xx', '5xx'],
  });
  const crossSiteRefused = registry.counter(
    'cross_site_refused_total',
    'Requests and upgrades refused to pages of other sites.',
  );
  const upgradesRefused = registry.counter(
    'upgrades_refused_total',
    'Requests for a WebSocket refused, by status.',
    { status: ['400', '403', '429', '503'] },
  );
  const operations = registry.counter('operations_total', 'GraphQL requests that have ended.', {
    document: [],
    transport: [],
    outcome: [],
  });
  const operationSeconds = registry.histogram(
    'operation_seconds',
    'Duration of queries and mutations.',
    SECONDS,
    { document: [] },
  );
  const other = seriesOf(OTHER);
  const requestHistogram = registry.histogram(
    'request_seconds',
    'Duration of queries and mutations by transport and outcome.',
    SECONDS,
    { transport: TRANSPORTS, outcome: OUTCOMES },
  );
  const requestSeconds = byName(TRANSPORTS, (transport) =>
    byName(OUTCOMES, (outcome) => requestHistogram.register(transport, outcome)),
  );
  const ownHistogram = registry.histogram(
    'own_seconds',
    'The part of a query or mutation with no call of a backend under way.',
    OWN_SECONDS,
    { type: TYPES },
  );
  const ownSeconds = byName(TYPES, (type) => ownHistogram.register(type));
  const connections = registry.gauge(
    'connections',
    'Connections of the public port, sockets among them; max is their bound.',
    'state',
  );
  const sockets = registry.gauge('sockets', 'WebSockets that are open.');
  const socketsClosed = registry.counter(
    'sockets_closed_total',
    'WebSockets that were closed, by close code.',
    { code: [...CLOSE_CODES, OTHER].map(String) },
  );
  const sendBufferBytes = registry.gauge('send_buffer_bytes', 'Bytes not taken by their readers.');
  const receiveBufferBytes = registry.gauge(
    'receive_buffer_bytes',
    'Bytes of messages and bodies that have not arrived whole.',
  );
  const connectionsCut = registry.counter(
    'connections_cut_total',
    'Connections closed for a bound of what they send or leave unread.',
    { reason: [...CUTS, 'rate', 'pipelined', 'pieces'] },
  );
  const documents = new Map<string, DocumentSeries>();

  function seriesOf(document: string): DocumentSeries {
    return {
      seconds: operationSeconds.register(document),
      outcomes: byName(TRANSPORTS, (transport) =>
        byName(OUTCOMES, (outcome) => operations.register(document, transport, outcome)),
      ),
    };
  }

  return {
    http,
    crossSiteRefused,
    upgradesRefused,
    connections,
    sockets,
    sendBufferBytes,
    receiveBufferBytes,
    connectionsCut,
    /** Gives the operations of the manifests their series. */
    listDocuments(names: Iterable<string>): void {
      for (const name of names) {
        if (documents.size >= MAX_DOCUMENTS) return;
        if (!documents.has(name)) documents.set(name, seriesOf(name));
      }
    },
    requestEnded(summary: RequestSummary, { durationMs }: RequestEnd): void {
      const { transport, outcome, type, callsMs } = summary;
      const name = summary.isTrusted ? summary.operationName : null;
      const series = (name === null ? undefined : documents.get(name)) ?? other;
      series.outcomes[transport][outcome].add();
      // The lifetime of a subscription says nothing about the service.
      if (!summary.hasStarted) {
        series.seconds.observe(durationMs / 1000);
        requestSeconds[transport][outcome].observe(durationMs / 1000);
        ownSeconds[type ?? 'none'].observe((durationMs - callsMs) / 1000);
      }
    },
    socketClosed(code: number): void {
      socketsClosed.add(CLOSE_CODES.has(code) ? String(code) : OTHER);
    },
  };
}
