/** Headers by the lower-case names that Node gives them, with `traceparent`, `tracestate` and `baggage`. */
export type TraceHeaders = Readonly<NodeJS.Dict<string | string[]>>;

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** The trace that a piece of work belongs to, which the calls that it makes continue. */
export interface Trace {
  /** Headers that each of the calls carries on unchanged; names and values alternate. */
  readonly headers: readonly string[];
}

export interface SpanEnd {
  /** The kind of a failure, from a fixed set of words; null for none. */
  readonly errorType: string | null;
  readonly attributes?: SpanAttributes;
}

/** An operation that is executed, or a call of another service by whose headers that continues the trace. */
export interface TraceSpan extends Trace {
  /** Later ends than the first count nothing. */
  end(end: SpanEnd): void;
}

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

/**
 * One request. Its span begins with `operation`, or with the first look at its trace id, and counts
 * from when the request came: whether it is sampled depends on what it asks for.
 */
export interface RequestTrace {
  /** For log lines; null where nothing has a span, as for a socket's operation that is refused. */
  readonly traceId: string | null;
  /** `isAlwaysSampled`: it is kept whatever the share of the traces that are. */
  operation(start: SpanStart & { readonly isAlwaysSampled: boolean }): TraceSpan;
  end(end: SpanEnd): void;
}

export interface ReceivedRequest {
  readonly headers: TraceHeaders;
  /** Whether the sender's context is continued; a trace is else a new one that is linked to it and sampled on its own. */
  readonly isContinued: boolean;
  /** Null where operations have no span above them, as those of a socket. */
  readonly span: SpanStart | null;
}

/** Records spans and exports them; where tracing is off there is none. */
export interface Tracing {
  receive(request: ReceivedRequest): RequestTrace;
  /** A call without a trace begins one of its own. */
  call(trace: Trace | undefined, start: SpanStart): TraceSpan;
  /** Exports what is left, within a bound. */
  close(): Promise<void>;
}
