import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { eventually } from './eventually.ts';
import { assertNoLeak } from './leaks.ts';
import { listenLocally } from './local-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON of OpenTelemetry's protocol
type Json = any;

/** A span as a collector received it. */
export type CollectedSpan = ReturnType<typeof spanOf>;

const KINDS = [undefined, 'internal', 'server', 'client'] as const;
const ERROR = 2;

/** A collector of OpenTelemetry's protocol: OTLP over HTTP, in JSON. With a null `status` it never answers. */
export async function startSpanCollector({ status = (): number | null => 200 } = {}) {
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
      for (const each of JSON.parse(body).resourceSpans) {
        resource = valuesOf(each.resource.attributes);
        for (const { spans: received } of each.scopeSpans) spans.push(...received.map(spanOf));
      }
    }
    response.writeHead(code, { 'content-type': 'application/json' }).end('{}');
  });
  const listener = await listenLocally(server);
  return {
    url: listener.url,
    /** The spans, in the order in which they arrived. */
    spans,
    /** The bodies, unparsed. */
    bodies,
    /** The path and the headers of each export. */
    exports,
    /** The attributes that describe the process. */
    get resource() {
      return resource;
    },
    /** The first matching span, as soon as it has arrived. */
    find: (fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan> =>
      eventually(() => {
        const found = spans.find(fits);
        const names = spans.map(({ name }) => name).join(', ');
        if (found === undefined) throw new Error(`no such span among: ${names}`);
        return found;
      }),
    childrenOf: (span: CollectedSpan) =>
      spans.filter(({ parentSpanId }) => parentSpanId === span.spanId),
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      assertNoLeak('spans', bodies);
    },
  };
}

function spanOf(span: Json) {
  return {
    name: String(span.name),
    traceId: String(span.traceId),
    spanId: String(span.spanId),
    traceState: String(span.traceState ?? ''),
    kind: KINDS[Number(span.kind)] ?? 'other',
    /** Null for the first span of a trace. */
    parentSpanId: span.parentSpanId ? String(span.parentSpanId) : null,
    isError: span.status?.code === ERROR,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(span.attributes ?? []),
    links: (span.links ?? []).map(({ traceId, spanId }: Json) => ({ traceId, spanId })),
  };
}

function valuesOf(attributes: Json[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );
}
