import { expect, test } from 'vitest';
import { SdkTracing } from '../../../src/lib/tracing/sdk-tracing.ts';
import { startSpanCollector } from '../../support/span-collector.ts';

async function openTracing() {
  const collector = await startSpanCollector();
  const tracing = new SdkTracing({
    settings: {
      url: collector.url,
      headers: {},
      compression: 'gzip',
      resource: {},
      sampler: { root: 'always_on', isParentBased: true, ratio: 1 },
      batch: {},
    },
    log: { info: () => {}, warn: () => {} },
    onDropped: () => {},
  });
  return { tracing, collector };
}

const HTTP = { name: 'POST /graphql', attributes: {} };
const OPERATION = { name: 'query', attributes: {}, isAlwaysSampled: false };
const DONE = { errorType: null };

test('the trace id that a log line shows is that of the exported spans, whenever it is asked for', async () => {
  const { tracing, collector } = await openTracing();
  await using _ = collector;
  const early = tracing.receive({ headers: {}, isContinued: false, span: HTTP });
  const { traceId } = early;
  early.operation(OPERATION).end(DONE);
  early.end(DONE);
  const late = tracing.receive({ headers: {}, isContinued: false, span: HTTP });
  late.end({ errorType: '500' });
  const ofSocket = tracing.receive({ headers: {}, isContinued: false, span: null });
  expect(ofSocket.traceId).toBeNull();
  ofSocket.operation(OPERATION).end(DONE);
  await tracing.close();
  const [operation, request, failed, single, ...more] = collector.spans;
  expect(more).toEqual([]);
  expect([operation?.traceId, request?.traceId]).toEqual([traceId, traceId]);
  expect(operation?.parentSpanId).toBe(request?.spanId);
  expect(failed).toMatchObject({ traceId: late.traceId, isError: true });
  expect(single).toMatchObject({ traceId: ofSocket.traceId, parentSpanId: null, kind: 'server' });
  expect(new Set(collector.spans.map((span) => span.traceId)).size).toBe(3);
});

test('a span ends once', async () => {
  const { tracing, collector } = await openTracing();
  await using _ = collector;
  const request = tracing.receive({ headers: {}, isContinued: false, span: HTTP });
  request.end(DONE);
  request.end({ errorType: '500' });
  await tracing.close();
  expect(collector.spans).toMatchObject([{ isError: false }]);
});

test('a trace id that was drawn at random is sent on as one, in a trace that is continued', async () => {
  const { tracing, collector } = await openTracing();
  await using _ = collector;
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03';
  const flagsSent = (isContinued: boolean) => {
    const request = tracing.receive({ headers: { traceparent }, isContinued, span: HTTP });
    const call = tracing.call(request.operation(OPERATION), { name: 'GET /', attributes: {} });
    return call.headers[1]?.slice(-2);
  };
  expect(flagsSent(true)).toBe('03');
  expect(flagsSent(false)).toBe('01');
  await tracing.close();
});
