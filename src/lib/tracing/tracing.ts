import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import { reasonOf } from '../reason-of.ts';
import { batchOptions, sampler, withWarnings } from './otel-variables.ts';

export interface SpanStart {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface SpanEnd {
  /** The kind of a failure, from a fixed set of words; null after success. */
  readonly errorType: string | null;
  readonly attributes?: Attributes;
}

/** The trace that a unit of work belongs to. */
export interface Trace {
  /** Headers for its gateway calls; names and values alternate. */
  readonly headers: readonly string[];
}

interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  /** Whether the sender's trace is continued; otherwise the request begins a new trace. */
  readonly isContinued: boolean;
  /** Null if operations have no span above them, as on a socket. */
  readonly span: SpanStart | null;
}

// An unreachable collector must not delay a shutdown for longer.
const CLOSE_MS = 2_000;
const PROPAGATOR = new W3CTraceContextPropagator();
const GETTER = {
  keys: Object.keys,
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

/** Records spans and exports them with OpenTelemetry's SDK. Import only its type: the module is loaded only if tracing is on. */
export class Tracing implements AsyncDisposable {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(log: Pick<Log, 'info' | 'warn'>, version: string) {
    const name = { 'service.name': 'trading-graph', 'service.version': version };
    this.#provider = withWarnings(
      (text) => log.warn({}, text),
      () =>
        new TracerProvider({
          resource: defaultResource()
            .merge(resourceFromAttributes(name))
            .merge(detectResources({ detectors: [envDetector] })),
          sampler: sampler(),
          spanProcessors: [
            new BatchSpanProcessor({
              ...batchOptions(),
              exporter: withLog(new OTLPTraceExporter(), log),
            }),
          ],
        }),
    );
    this.#tracer = this.#provider.getTracer('trading-graph');
  }

  receive({ headers, isContinued, span }: ReceivedRequest): RequestTrace {
    const parent = isContinued ? PROPAGATOR.extract(ROOT_CONTEXT, headers, GETTER) : ROOT_CONTEXT;
    return new RequestTrace(this.#tracer, parent, span);
  }

  /** A call without a parent trace begins a new one. */
  call(parent: Trace | undefined, start: SpanStart): TraceSpan {
    const context = parent instanceof TraceSpan ? parent.context : ROOT_CONTEXT;
    const call = new TraceSpan(this.#tracer, context, start, SpanKind.CLIENT);
    PROPAGATOR.inject(call.context, call.headers, {
      set: (headers, name, value) => value && headers.push(name, value),
    });
    return call;
  }

  /** Exports the remaining spans. Spans that the collector does not take in time are lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    const flushed = this.#provider.shutdown().catch(() => {});
    await Promise.race([flushed, delay(CLOSE_MS, undefined, { ref: false })]);
  }
}

/** The spans of one request. */
export class RequestTrace {
  readonly #tracer: Tracer;
  readonly #parent: Context;
  readonly #request: TraceSpan | null;
  #first: TraceSpan | null;

  constructor(tracer: Tracer, parent: Context, start: SpanStart | null) {
    this.#tracer = tracer;
    this.#request = start && new TraceSpan(tracer, parent, start, SpanKind.SERVER);
    this.#parent = this.#request?.context ?? parent;
    this.#first = this.#request;
  }

  /** Null until there is a span: a refused operation of a socket has none. */
  get traceId(): string | null {
    return this.#first?.traceId ?? null;
  }

  /** A span below the request's span. */
  operation(start: SpanStart): TraceSpan {
    const kind = this.#request === null ? SpanKind.SERVER : SpanKind.INTERNAL;
    const span = new TraceSpan(this.#tracer, this.#parent, start, kind);
    this.#first ??= span;
    return span;
  }

  end(end: SpanEnd): void {
    this.#request?.end(end);
  }
}

/** A span. Only its first end counts. */
export class TraceSpan implements Trace {
  readonly headers: string[] = [];
  readonly context: Context;
  readonly #span: Span;

  constructor(tracer: Tracer, parent: Context, start: SpanStart, kind: SpanKind) {
    const { name, attributes } = start;
    this.#span = tracer.startSpan(name, { attributes, kind }, parent);
    this.context = trace.setSpan(parent, this.#span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  end({ errorType, attributes = {} }: SpanEnd): void {
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes(attributes);
    if (errorType !== null) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** Logs once that the collector takes no spans, rather than with each batch, and once that it takes them again. */
function withLog(exporter: OTLPTraceExporter, log: Pick<Log, 'info' | 'warn'>): SpanExporter {
  let wasFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error } = result;
        const isFailing = error !== undefined;
        if (isFailing && !wasFailing) {
          log.warn({ reason: reasonOf(error) }, 'spans cannot be exported and are dropped');
        } else if (!isFailing && wasFailing) log.info({}, 'spans are exported again');
        wasFailing = isFailing;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
