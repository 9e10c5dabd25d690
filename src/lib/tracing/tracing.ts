import type { IncomingHttpHeaders } from 'node:http';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  getNumberFromEnv,
  getStringFromEnv,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type BatchSpanProcessorOptions,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { steadyClock, within } from '../clock.ts';
import type { Log } from '../log.ts';
import { reasonOf } from '../reason-of.ts';
import { RepeatedErrors } from '../repeated-errors.ts';

interface SpanStart {
  readonly name: string;
  readonly kind: 'SERVER' | 'CLIENT';
  readonly attributes: Attributes;
  /** The span above, or the trace of the sender; without a parent a new trace begins. */
  readonly parent?: Context | undefined;
}

// An unreachable collector must not delay a shutdown for longer.
const CLOSE_MS = 2_000;
const PROPAGATOR = new W3CTraceContextPropagator();

/** Records spans and exports them with OpenTelemetry's SDK. Import only its type: the module is loaded only if tracing is on. */
export class Tracing implements AsyncDisposable {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(log: Pick<Log, 'warn'>, version: string) {
    const service = { 'service.name': 'trading-graph', 'service.version': version };
    const repeated = new RepeatedErrors(steadyClock.now);
    setGlobalErrorHandler((error) => {
      const repeats = repeated.next('export');
      const line = { reason: reasonOf(error), ...repeats };
      if (repeats !== null) log.warn(line, 'spans cannot be exported and are dropped');
    });
    // A warning of the SDK about a variable quotes its value, which may be a secret.
    const warn = (text: string) => log.warn({}, text.replaceAll(/'[^']*'/g, "'…'"));
    const logger = { error: warn, warn, info() {}, debug() {}, verbose() {} };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes(service))
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: sampler(),
      spanProcessors: [
        new BatchSpanProcessor({ ...batchOptions(), exporter: new OTLPTraceExporter() }),
      ],
    });
    // The logger is for warnings about variables, and all have been read. Failed exports go to the error handler above.
    diag.disable();
    this.#tracer = this.#provider.getTracer('trading-graph');
  }

  start({ name, kind, attributes, parent = ROOT_CONTEXT }: SpanStart): TraceSpan {
    const options = { attributes, kind: SpanKind[kind] };
    return new TraceSpan(this.#tracer.startSpan(name, options, parent), parent);
  }

  /** The trace that the headers of a request continue. */
  senderOf(headers: IncomingHttpHeaders): Context {
    return PROPAGATOR.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
  }

  /** Exports the remaining spans. Spans that the collector does not take in time are lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    const flushed = this.#provider.shutdown().catch(() => {});
    await within(steadyClock, CLOSE_MS, flushed);
  }
}

/** A span. Only its first end counts. */
export class TraceSpan {
  /** The context of the spans below it. */
  readonly context: Context;
  readonly #span: Span;

  constructor(span: Span, parent: Context) {
    this.#span = span;
    this.context = trace.setSpan(parent, span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  /** The headers of a call that continues the trace; names and values alternate. */
  get headers(): readonly string[] {
    const headers: Record<string, string> = {};
    PROPAGATOR.inject(this.context, headers, defaultTextMapSetter);
    return Object.entries(headers).flat();
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** `errorType`: the kind of a failure, from a fixed set of words; null after success. */
  end(errorType: string | null, attributes: Attributes = {}): void {
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes(attributes);
    if (errorType !== null) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** The batch options of OTEL_BSP_…, which the SDK does not read itself. The processor has the standard's defaults. */
export function batchOptions(): Omit<BatchSpanProcessorOptions, 'exporter'> {
  const options = {
    scheduledDelayMillis: getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name. */
export function sampler(): Sampler {
  const given = getStringFromEnv('OTEL_TRACES_SAMPLER')?.trim() ?? 'parentbased_always_on';
  const ratio = getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;
  const samplers = new Map<string, Sampler>([
    ['always_on', new AlwaysOnSampler()],
    ['always_off', new AlwaysOffSampler()],
    ['traceidratio', new TraceIdRatioBasedSampler(ratio)],
  ]);
  const name = given.replace(/^parentbased_/, '');
  const root = samplers.get(name);
  if (root === undefined) {
    diag.warn(`OTEL_TRACES_SAMPLER is ignored: there is no sampler '${given}'`);
    return new ParentBasedSampler({ root: new AlwaysOnSampler() });
  }
  return name === given ? root : new ParentBasedSampler({ root });
}
