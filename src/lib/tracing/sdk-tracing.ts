import { setTimeout as delay } from 'node:timers/promises';
import {
  type Context,
  createNoopMeter,
  type MeterProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import { reasonOf } from '../reason-of.ts';
import { short } from './forwarded-trace.ts';
import { ALWAYS_SAMPLED, readVariables } from './otel-variables.ts';
import type {
  ReceivedRequest,
  RequestTrace,
  SpanEnd,
  SpanStart,
  Trace,
  TraceHeaders,
  TraceSpan,
  Tracing,
} from './tracing.ts';

interface SdkTracingOptions {
  /** The version of the service whose spans these are. */
  readonly version: string;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onDropped: (reason: 'queue_full' | 'export', spans: number) => void;
}

// A collector that is away must not hold a shutdown up.
const CLOSE_MS = 2_000;
const PROPAGATOR = new W3CTraceContextPropagator();

/** Tracing by OpenTelemetry's SDK, as its own variables say. The module is loaded only where tracing is on. */
export class SdkTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor({ version, log, onDropped }: SdkTracingOptions) {
    this.#provider = readVariables(
      version,
      (text) => log.warn({}, text),
      ({ resource, sampler, batch }) =>
        new TracerProvider({
          resource,
          sampler,
          spanProcessors: [
            new BatchSpanProcessor({
              ...batch,
              exporter: watched(new OTLPTraceExporter(), log, (n) => onDropped('export', n)),
              selfObsMeterProvider: countQueueDrops((n) => onDropped('queue_full', n)),
            }),
          ],
        }),
    );
    this.#tracer = this.#provider.getTracer('trading-graph');
  }

  receive({ headers, isContinued, span: above }: ReceivedRequest): RequestTrace {
    const clock = new SpanClock();
    /** The span of the request, or of the operation where requests have none. */
    let first: SdkSpan | null = null;
    const begun = (start: SpanStart, isAlwaysSampled: boolean): SdkSpan => {
      if (first !== null) return first;
      const sender = PROPAGATOR.extract(ROOT_CONTEXT, headers, GETTER);
      const root = isContinued ? sender : ROOT_CONTEXT;
      const parent = isAlwaysSampled ? root.setValue(ALWAYS_SAMPLED, true) : root;
      const context = isContinued ? undefined : trace.getSpanContext(sender);
      first = new SdkSpan(this.#tracer, parent, clock, start, {
        kind: SpanKind.SERVER,
        startTime: clock.startedAtMs,
        links: context ? [{ context }] : [],
      });
      return first;
    };
    const tracer = this.#tracer;
    return {
      get traceId() {
        const span = above === null ? first : begun(above, false);
        return span?.span.spanContext().traceId ?? null;
      },
      operation({ isAlwaysSampled, ...start }) {
        const outer = begun(above ?? start, isAlwaysSampled);
        const operation = above === null ? outer : new SdkSpan(tracer, outer.context, clock, start);
        operation.headers.push(...short(headers, 'baggage'));
        return operation;
      },
      end(end) {
        if (above !== null) begun(above, false).end(end);
      },
    };
  }

  call(parent: Trace | undefined, start: SpanStart): TraceSpan {
    const within =
      parent instanceof SdkSpan ? parent : { context: ROOT_CONTEXT, clock: new SpanClock() };
    const { context, clock } = within;
    const call = new SdkSpan(this.#tracer, context, clock, start, { kind: SpanKind.CLIENT });
    PROPAGATOR.inject(call.context, call.headers, {
      set: (headers, name, value) => value && headers.push(name, value),
    });
    return call;
  }

  async close(): Promise<void> {
    // Spans that the collector does not take by then are lost with the process.
    const flushed = this.#provider.shutdown().catch(() => {});
    await Promise.race([flushed, delay(CLOSE_MS, undefined, { ref: false })]);
  }
}

const GETTER = {
  keys: Object.keys,
  get: (headers: TraceHeaders, name: string) => headers[name],
};

class SdkSpan implements TraceSpan {
  readonly headers: string[] = [];
  readonly span: Span;
  readonly context: Context;
  readonly clock: SpanClock;

  constructor(
    tracer: Tracer,
    parent: Context,
    clock: SpanClock,
    { name, attributes }: SpanStart,
    options: SpanOptions = {},
  ) {
    this.clock = clock;
    this.span = tracer.startSpan(name, { startTime: clock.now(), attributes, ...options }, parent);
    this.context = trace.setSpan(parent, this.span);
  }

  end({ errorType, attributes = {} }: SpanEnd): void {
    if (!this.span.isRecording()) return;
    this.span.setAttributes(attributes);
    if (errorType !== null) {
      this.span.setAttribute('error.type', errorType);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end(this.clock.now());
  }
}

/** The spans of a request have one clock, which no correction of the system's moves, or they would overlap. */
class SpanClock {
  readonly startedAtMs = Date.now();
  readonly #startedAt = performance.now();

  now(): number {
    return this.startedAtMs + performance.now() - this.#startedAt;
  }
}

/** Logs once that the collector does not take spans, rather than with each batch, and once that it does again. */
function watched(
  exporter: OTLPTraceExporter,
  log: SdkTracingOptions['log'],
  onFailed: (spans: number) => void,
): SpanExporter {
  let wasFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error) onFailed(spans.length);
        if (error && !wasFailing) {
          log.warn({ reason: reasonOf(error) }, 'spans cannot be exported and are dropped');
        } else if (!error && wasFailing) log.info({}, 'spans are exported again');
        wasFailing = error !== undefined;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/** The SDK reports spans for which its queue had no room by a metric alone. */
function countQueueDrops(onDropped: (spans: number) => void): MeterProvider {
  const counter = {
    add(spans: number, attributes?: Readonly<Record<string, unknown>>) {
      if (attributes?.['error.type'] === 'queue_full') onDropped(spans);
    },
  };
  const meter = Object.assign(Object.create(createNoopMeter()), { createCounter: () => counter });
  return { getMeter: () => meter };
}
