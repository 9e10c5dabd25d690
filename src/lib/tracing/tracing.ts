import type { IncomingHttpHeaders } from 'node:http';

type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

export interface SpanEnd {
  /** The kind of a failure, from a fixed set of words; null for none. */
  readonly errorType: string | null;
  readonly attributes?: SpanAttributes;
}

/** The trace that a piece of work belongs to. */
export interface Trace {
  /** Headers that its gateway calls carry; names and values alternate. */
  readonly headers: readonly string[];
}

/** A span. Only its first end counts. */
export interface TraceSpan extends Trace {
  end(end: SpanEnd): void;
}

/** The spans of one request. */
export interface RequestTrace {
  /** Null where nothing has a span yet, as for an operation of a socket that is refused. */
  readonly traceId: string | null;
  /** A span below that of the request. */
  operation(start: SpanStart): TraceSpan;
  end(end: SpanEnd): void;
}

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  /** Whether the trace of the sender is continued; else the request begins a trace. */
  readonly isContinued: boolean;
  /** Null where operations have no span above them, as those of a socket. */
  readonly span: SpanStart | null;
}

/** Records spans and exports them. Without tracing there is none. */
export interface Tracing {
  receive(request: ReceivedRequest): RequestTrace;
  /** A call without a trace begins one of its own. */
  call(trace: Trace | undefined, start: SpanStart): TraceSpan;
}
