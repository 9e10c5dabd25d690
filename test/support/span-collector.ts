import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { eventually } from './eventually.ts';
import { assertNoLeak } from './leaks.ts';
import { listenLocally } from './local-server.ts';

/** A span as a collector received it. */
export interface CollectedSpan {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the first span of a trace. */
  readonly parentSpanId: string | null;
  readonly traceState: string;
  readonly isError: boolean;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

export interface SpanCollector extends AsyncDisposable {
  readonly url: string;
  /** In the order in which they arrived. */
  readonly spans: readonly CollectedSpan[];
  /** The attributes by which the spans describe their process. */
  readonly resource: Readonly<Record<string, unknown>>;
  /** The path and the headers of each export. */
  readonly exports: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** The bodies as they came. */
  readonly bodies: readonly string[];
  /** The first span that fits, as soon as it has arrived. */
  find(fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
  /** The spans directly under one. */
  childrenOf(span: CollectedSpan): readonly CollectedSpan[];
}

export interface SpanCollectorOptions {
  /** The status of each answer; null: none is ever given. */
  readonly status?: () => number | null;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly OtlpAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = { 1: 'internal', 2: 'server', 3: 'client' } as const;
const ERROR = 2;

/** A collector as OpenTelemetry's protocol describes it: OTLP over HTTP, in JSON. */
export async function startSpanCollector({
  status = () => 200,
}: SpanCollectorOptions = {}): Promise<SpanCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const exports: { path: string; headers: IncomingHttpHeaders }[] = [];
  let resource: Readonly<Record<string, unknown>> = {};
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const body = String(isPacked ? gunzipSync(bytes) : bytes);
    exports.push({ path: String(request.url), headers: request.headers });
    const code = status();
    if (code === null) return;
    if (code === 200) {
      bodies.push(body);
      for (const each of (JSON.parse(body) as OtlpRequest).resourceSpans) {
        resource = valuesOf(each.resource.attributes);
        for (const { spans: received } of each.scopeSpans) spans.push(...received.map(spanOf));
      }
    }
    response.writeHead(code, { 'content-type': 'application/json' }).end('{}');
  });
  const listener = await listenLocally(server);
  return {
    url: listener.url,
    spans,
    bodies,
    exports,
    get resource() {
      return resource;
    },
    find(fits) {
      return eventually(() => {
        const found = spans.find(fits);
        if (found === undefined) {
          throw new Error(`no such span among: ${spans.map(({ name }) => name).join(', ')}`);
        }
        return found;
      });
    },
    childrenOf: ({ spanId }) => spans.filter(({ parentSpanId }) => parentSpanId === spanId),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      assertNoLeak('spans', bodies);
    },
  };
}

function spanOf(span: OtlpSpan): CollectedSpan {
  const { name, traceId, spanId, parentSpanId, traceState = '', attributes = [] } = span;
  return {
    name,
    traceId,
    spanId,
    traceState,
    kind: KINDS[span.kind as keyof typeof KINDS] ?? 'other',
    parentSpanId: parentSpanId || null,
    isError: span.status?.code === ERROR,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(attributes),
    links: (span.links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
  };
}

function valuesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
