import { setTimeout as delay } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  createContextKey,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';
import { CollectorExporter, countQueueDrops } from './collector-exporter.ts';
import {
  readBaggage,
  readTraceContext,
  type TraceContext,
  traceparentOf,
} from './trace-context.ts';
import type {
  CallTrace,
  OperationStart,
  OperationTrace,
  ReceivedRequest,
  RequestTrace,
  SamplerSettings,
  SpanEnd,
  SpanStart,
  Trace,
  Tracing,
  TracingSettings,
} from './tracing.ts';

interface SdkTracingOptions {
  readonly settings: TracingSettings;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly onDropped: (reason: 'queue_full' | 'export', spans: number) => void;
}

// A collector that is away must not hold a shutdown up.
const CLOSE_MS = 2_000;

/** Tracing by OpenTelemetry's SDK. The module is loaded only where tracing is on. */
export class SdkTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor({ settings, log, onDropped }: SdkTracingOptions) {
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(resourceFromAttributes({ ...settings.resource })),
      sampler: new RequestSampler(settings.sampler),
      spanProcessors: [
        new BatchSpanProcessor({
          ...settings.batch,
          exporter: new CollectorExporter({
            settings,
            log,
            onFailed: (n) => onDropped('export', n),
          }),
          selfObsMeterProvider: countQueueDrops((spans) => onDropped('queue_full', spans)),
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('trading-graph');
  }

  receive(request: ReceivedRequest): RequestTrace {
    return new SdkRequestTrace(this.#tracer, request);
  }

  call(parent: Trace | undefined, { name, attributes }: SpanStart): CallTrace {
    const within = parent instanceof SdkOperationTrace ? parent : null;
    const stopwatch = within?.stopwatch ?? new Stopwatch();
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes, startTime: stopwatch.now() },
      within?.context ?? ROOT_CONTEXT,
    );
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const traceparent = traceparentOf({
      traceId,
      parentId: spanId,
      isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0,
      hasRandomId: within?.hasRandomId ?? false,
    });
    const state = traceState?.serialize();
    return {
      headers: state
        ? ['traceparent', traceparent, 'tracestate', state]
        : ['traceparent', traceparent],
      end: (end) => endSpan(span, stopwatch, end),
    };
  }

  async close(): Promise<void> {
    // Spans that the collector does not take by then are lost with the process.
    const flushed = this.#provider.shutdown().catch(() => {});
    await Promise.race([flushed, delay(CLOSE_MS, undefined, { ref: false })]);
  }
}

class SdkRequestTrace implements RequestTrace {
  readonly #tracer: Tracer;
  readonly #request: ReceivedRequest;
  readonly #received: TraceContext | null;
  readonly #stopwatch = new Stopwatch();
  /** The span of the request, or of the operation where requests have none. */
  #first: Span | null = null;

  constructor(tracer: Tracer, request: ReceivedRequest) {
    this.#tracer = tracer;
    this.#request = request;
    this.#received = readTraceContext(request.headers);
  }

  get traceId(): string | null {
    const { span } = this.#request;
    const first = span === null ? this.#first : this.#begun(span, false);
    return first?.spanContext().traceId ?? null;
  }

  operation({ name, attributes, isAlwaysSampled }: OperationStart): OperationTrace {
    const { span: above, headers, isContinued } = this.#request;
    const span =
      above === null
        ? this.#start(name, attributes, isAlwaysSampled)
        : this.#tracer.startSpan(
            name,
            { kind: SpanKind.INTERNAL, attributes, startTime: this.#stopwatch.now() },
            trace.setSpan(ROOT_CONTEXT, this.#begun(above, isAlwaysSampled)),
          );
    this.#first ??= span;
    const baggage = readBaggage(headers);
    return new SdkOperationTrace({
      span,
      stopwatch: this.#stopwatch,
      headers: baggage === null ? [] : ['baggage', baggage],
      hasRandomId: isContinued && this.#received?.hasRandomId === true,
    });
  }

  end(end: SpanEnd): void {
    const { span } = this.#request;
    if (span !== null) endSpan(this.#begun(span, false), this.#stopwatch, end);
  }

  #begun({ name, attributes }: SpanStart, isAlwaysSampled: boolean): Span {
    this.#first ??= this.#start(name, attributes, isAlwaysSampled);
    return this.#first;
  }

  #start(name: string, attributes: Attributes, isAlwaysSampled: boolean): Span {
    const remote = this.#received === null ? null : remoteContext(this.#received);
    const isParent = remote !== null && this.#request.isContinued;
    const root = isParent ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
    return this.#tracer.startSpan(
      name,
      {
        kind: SpanKind.SERVER,
        attributes,
        startTime: this.#stopwatch.startedAtMs,
        links: remote !== null && !isParent ? [{ context: remote }] : [],
      },
      isAlwaysSampled ? root.setValue(ALWAYS_SAMPLED, true) : root,
    );
  }
}

interface OperationParts {
  readonly span: Span;
  readonly stopwatch: Stopwatch;
  readonly headers: readonly string[];
  readonly hasRandomId: boolean;
}

class SdkOperationTrace implements OperationTrace {
  readonly headers: readonly string[];
  readonly context: Context;
  readonly stopwatch: Stopwatch;
  readonly hasRandomId: boolean;
  readonly #span: Span;

  constructor({ span, stopwatch, headers, hasRandomId }: OperationParts) {
    this.#span = span;
    this.stopwatch = stopwatch;
    this.headers = headers;
    this.hasRandomId = hasRandomId;
    this.context = trace.setSpan(ROOT_CONTEXT, span);
  }

  end(end: SpanEnd): void {
    endSpan(this.#span, this.stopwatch, end);
  }
}

/**
 * The spans of a request have one clock, or they would overlap by the rounding of the system's;
 * a correction of that clock does not change how long they took.
 */
class Stopwatch {
  readonly startedAtMs = Date.now();
  readonly #startedAt = performance.now();

  now(): number {
    return this.startedAtMs + performance.now() - this.#startedAt;
  }
}

function remoteContext({ traceId, parentId, isSampled, state }: TraceContext): SpanContext {
  return {
    traceId,
    spanId: parentId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state !== null && { traceState: createTraceState(state) }),
  };
}

function endSpan(span: Span, stopwatch: Stopwatch, { errorType, attributes }: SpanEnd): void {
  if (!span.isRecording()) return;
  if (attributes) span.setAttributes(attributes);
  if (errorType !== null) {
    span.setAttribute('error.type', errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(stopwatch.now());
}

/** Set on the context of what is sampled whatever the ratio, and whatever a parent decided. */
const ALWAYS_SAMPLED = createContextKey('always sampled');

const SAMPLED: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const NOT_SAMPLED: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/** The sampler that the settings name, with what is always sampled on top of a ratio. */
class RequestSampler implements Sampler {
  readonly #isParentBased: boolean;
  readonly #samplesAlways: boolean;
  readonly #root: Sampler;

  constructor({ root, isParentBased, ratio }: SamplerSettings) {
    this.#isParentBased = isParentBased;
    this.#samplesAlways = root !== 'always_off';
    this.#root = {
      always_on: () => new AlwaysOnSampler(),
      always_off: () => new AlwaysOffSampler(),
      traceidratio: () => new TraceIdRatioBasedSampler(ratio),
    }[root]();
  }

  shouldSample(context: Context, traceId: string, ...rest: RestOfSampling): SamplingResult {
    const parent = trace.getSpanContext(context);
    // All spans of one request are sampled, or none.
    if (parent && !parent.isRemote) return decisionOf(parent.traceFlags);
    if (this.#samplesAlways && context.getValue(ALWAYS_SAMPLED) === true) return SAMPLED;
    if (parent && this.#isParentBased) return decisionOf(parent.traceFlags);
    return this.#root.shouldSample(context, traceId, ...rest);
  }

  toString(): string {
    return `RequestSampler{${this.#root.toString()}}`;
  }
}

type RestOfSampling =
  Parameters<Sampler['shouldSample']> extends [unknown, unknown, ...infer Rest] ? Rest : never;

function decisionOf(flags: number): SamplingResult {
  return (flags & TraceFlags.SAMPLED) === 0 ? NOT_SAMPLED : SAMPLED;
}
