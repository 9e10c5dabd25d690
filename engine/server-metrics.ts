import type { Count, Counter, Distribution, Histogram, Registry } from '../lib/metrics/registry.ts';
import { SEND_FAULTS } from './receive/receive-buffer.ts';
import type {
  RequestEnd,
  RequestOutcome,
  RequestSummary,
  Transport,
} from './request/request-summary.ts';
import { CLOSINGS } from './websocket/closings.ts';

const TRANSPORTS: readonly Transport[] = ['http', 'sse', 'websocket'];
const OUTCOMES: readonly RequestOutcome[] = ['ok', 'caller', 'refused', 'fault', 'gone'];
const TYPES = ['query', 'mutation', 'subscription', 'none'] as const;
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const OWN_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
// Clients and `ws` itself close with others than ours.
const CLOSE_CODES: ReadonlySet<number> = new Set([
  ...[1000, 1001, 1002, 1005, 1006, 1007, 1011],
  ...Object.values(CLOSINGS).map(([code]) => code),
]);
/** Above this the operations of a manifest count as `other`: each has dozens of series. */
const MOST_DOCUMENTS = 50;
const MOST_VERSIONS = 20;
const OTHER = 'other';

interface DocumentSeries {
  readonly seconds: Distribution;
  readonly outcomes: Readonly<Record<Transport, Readonly<Record<RequestOutcome, Count>>>>;
}

/** The metrics of requests and connections. */
export class ServerMetrics {
  readonly http: Counter;
  readonly generalPath: Counter;
  readonly crossSiteRefused: Counter;
  readonly upgradesRefused: Counter;
  readonly readersCut: Counter;
  readonly sockets;
  readonly connections;
  readonly sendBufferBytes;
  readonly receiveBufferBytes;
  readonly sendersCut: Counter;
  readonly #operations: Counter;
  readonly #seconds: Histogram;
  readonly #requestSeconds: Readonly<
    Record<Transport, Readonly<Record<RequestOutcome, Distribution>>>
  >;
  readonly #ownSeconds: Readonly<Record<(typeof TYPES)[number], Distribution>>;
  readonly #clients: Counter;
  readonly #deprecated: Counter;
  readonly #versions = new Map<string, Map<string, Count>>();
  readonly #socketsClosed: Counter;
  readonly #documents = new Map<string, DocumentSeries>();
  readonly #other: DocumentSeries;

  constructor(registry: Registry) {
    this.http = registry.counter('http_requests_total', 'HTTP requests by status class.', {
      status: ['2xx', '3xx', '4xx', '5xx'],
    });
    this.generalPath = registry.counter(
      'http_general_path_total',
      'Requests that were answered by yoga: other methods than GET and POST, and malformed query strings.',
    );
    this.crossSiteRefused = registry.counter(
      'cross_site_refused_total',
      'Requests and upgrades that pages of other sites made browsers send; they are charged to nobody.',
    );
    this.upgradesRefused = registry.counter(
      'upgrades_refused_total',
      'Requests for a WebSocket that were refused, by status.',
      { status: ['400', '403', '429', '503'] },
    );
    this.#operations = registry.counter(
      'operations_total',
      'GraphQL requests that have ended; a document is named where a manifest has it, else other.',
      { document: [], transport: [], outcome: [] },
    );
    this.#seconds = registry.histogram(
      'operation_seconds',
      'Duration of queries and mutations, from the head to the last byte sent.',
      SECONDS,
      { document: [] },
    );
    this.#other = this.#seriesOf(OTHER);
    const requestSeconds = registry.histogram(
      'request_seconds',
      'Duration of queries and mutations by transport and outcome.',
      SECONDS,
      { transport: TRANSPORTS, outcome: OUTCOMES },
    );
    this.#requestSeconds = each(TRANSPORTS, (transport) =>
      each(OUTCOMES, (outcome) => requestSeconds.register(transport, outcome)),
    );
    const ownSeconds = registry.histogram(
      'own_seconds',
      'The part of a query or mutation with no call of a backend under way.',
      OWN_SECONDS,
      { type: TYPES },
    );
    this.#ownSeconds = each(TYPES, (type) => ownSeconds.register(type));
    this.#clients = registry.counter(
      'client_requests_total',
      'Requests by the clients that CLIENT_NAMES lists, and by major and minor version.',
      { client: [OTHER], version: [OTHER] },
    );
    this.#deprecated = registry.counter(
      'deprecated_fields_total',
      'Requests by the clients that CLIENT_NAMES lists whose document selects a deprecated field.',
      { field: [OTHER], client: [OTHER], version: [OTHER] },
    );
    this.connections = registry.gauge(
      'connections',
      'Connections of the public port, sockets among them; max is their bound.',
      'state',
    );
    this.sockets = registry.gauge('sockets', 'WebSockets that are open.');
    this.#socketsClosed = registry.counter(
      'sockets_closed_total',
      'WebSockets that were closed, by close code.',
      { code: [...CLOSE_CODES, OTHER].map(String) },
    );
    this.sendBufferBytes = registry.gauge('send_buffer_bytes', 'Bytes not taken by their readers.');
    this.receiveBufferBytes = registry.gauge(
      'receive_buffer_bytes',
      'Bytes of messages and bodies that have not arrived whole.',
    );
    this.sendersCut = registry.counter(
      'senders_cut_total',
      'Connections that were closed for what they sent, by the bound that was reached.',
      { reason: SEND_FAULTS },
    );
    this.readersCut = registry.counter(
      'readers_cut_total',
      'Connections that were cut because answers stayed unread, by the bound that was reached.',
      { reason: ['idle', 'client', 'process'] },
    );
  }

  /** Gives each client its series, so that they are there before its first request. */
  listClients(names: readonly string[]): void {
    for (const name of names) {
      this.#versions.set(name, new Map([[OTHER, this.#clients.register(name, OTHER)]]));
    }
  }

  /** Gives the operations of the manifests their series. */
  listDocuments(names: Iterable<string>): void {
    for (const name of names) {
      if (this.#documents.size >= MOST_DOCUMENTS) return;
      if (!this.#documents.has(name)) this.#documents.set(name, this.#seriesOf(name));
    }
  }

  requestEnded(summary: RequestSummary, { durationMs, isAccepted }: RequestEnd): void {
    const { transport, outcome, type, callsMs } = summary;
    const name = summary.isTrusted ? summary.operationName : null;
    const series = (name === null ? undefined : this.#documents.get(name)) ?? this.#other;
    series.outcomes[transport][outcome].add();
    // The lifetime of a subscription says nothing about the service.
    if (!summary.hasStarted) {
      series.seconds.observe(durationMs / 1000);
      this.#requestSeconds[transport][outcome].observe(durationMs / 1000);
      this.#ownSeconds[type ?? 'none'].observe((durationMs - callsMs) / 1000);
    }
    this.#countClient(summary, isAccepted);
  }

  socketClosed(code: number): void {
    this.#socketsClosed.add(CLOSE_CODES.has(code) ? String(code) : OTHER);
  }

  /** Versions are the clients' own words: only those sent with an accepted token become labels. */
  #countClient({ client, deprecated }: RequestSummary, isAccepted: boolean): void {
    const versions = client?.label ? this.#versions.get(client.label) : undefined;
    if (client === null || versions === undefined) {
      this.#clients.add(OTHER, OTHER);
      return;
    }
    const version = /^\d{1,4}\.\d{1,4}(?=\.|$)/.exec(client.version ?? '')?.[0] ?? OTHER;
    let count = versions.get(version);
    if (count === undefined && isAccepted && versions.size <= MOST_VERSIONS) {
      count = this.#clients.register(client.name, version);
      versions.set(version, count);
    }
    (count ?? versions.get(OTHER))?.add();
    const label = count === undefined ? OTHER : version;
    for (const field of deprecated) this.#deprecated.register(field, client.name, label).add();
  }

  #seriesOf(document: string): DocumentSeries {
    return {
      seconds: this.#seconds.register(document),
      outcomes: each(TRANSPORTS, (transport) =>
        each(OUTCOMES, (outcome) => this.#operations.register(document, transport, outcome)),
      ),
    };
  }
}

function each<const Name extends string, T>(
  names: readonly Name[],
  make: (name: Name) => T,
): Readonly<Record<Name, T>> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>;
}
