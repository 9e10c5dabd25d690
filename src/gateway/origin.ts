import { type LogicalClock, steadyClock, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { TraceSpan, Tracing } from '../lib/tracing/tracing.ts';
import type { OperationSettings } from './calls.ts';
import { GatewayClient } from './client.ts';
import { ClockSkew } from './clock-skew.ts';
import type { Exchange, Send } from './exchange.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { Area, DescribedOperation } from './operation-traits.ts';
import type { RequestSettings } from './requests.ts';
import { Resilience } from './resilience/resilience.ts';
import { Pools, Transport } from './transport.ts';

export interface OriginOptions extends RequestSettings, OperationSettings {
  readonly logicalClock: LogicalClock;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly url: string;
  readonly operations: Readonly<Record<string, DescribedOperation>>;
  readonly widths: Readonly<Record<Area, number>>;
  /** Called each time a breaker of an area closes. */
  readonly onRecovered?: (area: Area) => void;
}

/** What the services of `services.ts` share. Each gives its own address and headers. */
export type ServiceOptions = Omit<
  OriginOptions,
  'url' | 'gatewayHeaders' | 'operations' | 'widths' | 'onRecovered'
>;

/** A service that is called over HTTP: a client for its operations, with resilience, metrics, spans and connections. */
export class Origin {
  readonly client: GatewayClient;
  readonly clockSkew = new ClockSkew(systemClock, steadyClock);
  readonly #pools: Pools;
  readonly #resilience: Resilience;

  constructor(options: OriginOptions) {
    const { url, operations, widths, metrics, log, tracing } = options;
    this.#pools = new Pools(url, widths, options.gatewayTimeoutMs);
    const { send } = new Transport(this.#pools, options.logicalClock);
    this.#resilience = new Resilience(tracing === null ? send : withSpans(send, tracing, url), {
      clock: steadyClock,
      random: Math.random,
      widths,
      observe: (call, outcome, exchange) => {
        metrics.called(call, outcome, exchange);
        this.clockSkew.observe(call, exchange);
      },
      onCircuit: (circuit, state, cause) => log.warn({ circuit, state, cause }, 'circuit breaker'),
      onQuota: (operation) => log.warn({ operation }, 'quota of the gateway'),
      onRecovered: options.onRecovered,
    });
    metrics.watch({ operations, resilience: this.#resilience, pools: this.#pools });
    this.client = new GatewayClient({
      ...options,
      send: this.#resilience.send,
      onBroken: metrics.answerBroken,
      onRead: metrics.answerRead,
      onOrderFailed: (operation, error) =>
        log.error({ operation, err: error }, 'the operation of an order failed'),
    });
  }

  /** The failing operations and their causes; null if none fails. */
  degradedReason(): string | null {
    return this.#resilience.degradedReason();
  }

  close(): Promise<void> {
    return this.#pools.close();
  }
}

const FIRST_FAILURE = 400;

/** Creates one span for each attempt. The gateway continues its trace. */
export function withSpans(send: Send, tracing: Tracing, url: string): Send {
  const { hostname, port, protocol } = new URL(url);
  const server = {
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };

  return async (call) => {
    const { description, caller, resends } = call;
    // The path of a call contains a login, so spans have only its template.
    const span = tracing.start({
      name: `${description.method} ${description.path}`,
      kind: 'CLIENT',
      parent: caller.trace?.context,
      attributes: {
        'http.request.method': description.method,
        'url.template': description.path,
        ...server,
        ...(resends && { 'http.request.resend_count': resends }),
        ...(caller.priority === 'poll' && { 'trading_graph.poll': true }),
      },
    });
    const exchange = await send({ ...call, headers: call.headers.concat(span.headers) });
    end(span, exchange);
    return exchange;
  };
}

function end(span: TraceSpan, exchange: Exchange): void {
  if (exchange.sent && exchange.answered) {
    const { status } = exchange;
    const errorType = status >= FIRST_FAILURE ? String(status) : null;
    span.end(errorType, { 'http.response.status_code': status });
  } else span.end(exchange.sent ? exchange.reason : 'not-sent');
}
