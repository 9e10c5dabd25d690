import type { TraceHeaders } from './trace-context.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The trace that a piece of work belongs to, which the calls that it makes continue. */
export interface Trace {
  /** Headers that each of the calls carries on unchanged; names and values alternate. */
  readonly headers: readonly string[];
}

/** How a piece of work ended. */
export interface SpanEnd {
  /** The kind of a failure, from a fixed set of words; null for none. */
  readonly errorType: string | null;
  readonly attributes?: SpanAttributes;
}

/** An operation that is executed; later ends than the first count nothing. */
export interface OperationTrace extends Trace {
  end(end: SpanEnd): void;
}

/** A call of another service. */
export interface CallTrace {
  /** The headers by which the other service continues the trace; names and values alternate. */
  readonly headers: readonly string[];
  end(end: SpanEnd): void;
}

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

export interface OperationStart extends SpanStart {
  /** True for what is kept whatever the share of the traces that are. */
  readonly isAlwaysSampled: boolean;
}

/**
 * One request. Its span begins with `operation`, or with the first look at its trace id, and counts
 * from when the request came: whether it is sampled depends on what it asks for.
 */
export interface RequestTrace {
  /** For log lines; null where nothing has a span, as for a socket's operation that is refused. */
  readonly traceId: string | null;
  operation(start: OperationStart): OperationTrace;
  end(end: SpanEnd): void;
}

export interface ReceivedRequest {
  readonly headers: TraceHeaders;
  /**
   * Whether the sender's context is continued. Otherwise the trace is a new one, linked to the
   * sender's, which then does not decide whether it is sampled.
   */
  readonly isContinued: boolean;
  /** Null where operations have no span above them, as those of a socket. */
  readonly span: SpanStart | null;
}

/** Records spans and exports them; where tracing is off there is none. */
export interface Tracing {
  receive(request: ReceivedRequest): RequestTrace;
  /** Without a trace the call is one of its own. */
  call(trace: Trace | undefined, start: SpanStart): CallTrace;
  /** Exports what is left, within a bound. */
  close(): Promise<void>;
}

export interface SamplerSettings {
  readonly root: 'always_on' | 'always_off' | 'traceidratio';
  /** The decision of a trusted caller counts, where there is one. */
  readonly isParentBased: boolean;
  /** The share of the traces that `traceidratio` samples, from 0 to 1. */
  readonly ratio: number;
}

/** Values that are left out have the defaults of OpenTelemetry's specification. */
interface BatchSettings {
  readonly scheduledDelayMillis?: number;
  readonly exportTimeoutMillis?: number;
  readonly maxQueueSize?: number;
  readonly maxExportBatchSize?: number;
}

export interface TracingSettings {
  /** The whole address to which spans are posted. */
  readonly url: string;
  /** May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly compression: 'gzip' | 'none';
  /** The attributes by which spans describe this process, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerSettings;
  readonly batch: BatchSettings;
}
