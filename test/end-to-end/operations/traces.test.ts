import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import type { TeamPlugin } from '../../../src/engine/index.ts';
import { firstCallOf } from '../../../src/gateway/operation-traits.ts';
import { OPERATIONS, type OperationName } from '../../../src/gateway/operations.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { type CollectedSpan, startSpanCollector } from '../../support/span-collector.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { CHANGES, sseClient, webSocketClient } from '../live/watcher.ts';
import { lineOf } from './request-lines.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
// `traceparent` headers. The last digit says whether the trace is sampled.
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const UNSAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;
const TRUSTED = { TRUSTED_PROXIES: '127.0.0.1' };

const HOME = `{
  session { balance equity currency }
  positions { symbol instrument { name } }
  withdrawalMethods { title }
  customerId
}`;
const HOME_READS = [
  'getSession',
  'getOpenPositions',
  'getAllTickers',
  'getWithdrawalMethods',
  'getCustomerId',
] as const;
const HOME_CALLS = HOME_READS.map(spanName).sort();

/** The name of the span of an operation's first call. */
function spanName(name: OperationName): string {
  const { method, path } = firstCallOf(OPERATIONS[name]);
  return `${method} ${path}`;
}

interface TracedOptions {
  readonly plugins?: readonly TeamPlugin[];
  /** The status of the collector's answers; null: it never answers. */
  readonly status?: () => number | null;
}

/** Starts a collector, and a service that exports its spans to it without delay. */
async function startTraced(
  environment: Environment = {},
  { plugins = [], ...collectorOptions }: TracedOptions = {},
) {
  await using started = new AsyncDisposableStack();
  const collector = started.use(await startSpanCollector(collectorOptions));
  const exporting = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ...environment,
  };
  const app = started.use(await startTestApp(exporting, { plugins }));
  const owned = started.move();
  return {
    collector,
    app,
    token: app.sandbox.token({ email: 'demo@example.com' }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const isRequest = ({ name }: CollectedSpan) => name === 'POST /graphql';
const namesOf = (spans: readonly CollectedSpan[]) => spans.map(({ name }) => name).toSorted();

/** The headers that a request can hand on to the gateway. */
const TRACE_HEADERS = {
  traceparent: SAMPLED,
  tracestate: 'rojo=1,congo=2',
  'x-request-id': 'request-1',
};
const HEADER_NAMES = Object.keys(TRACE_HEADERS) as (keyof typeof TRACE_HEADERS)[];

type Forwarded = Partial<Record<keyof typeof TRACE_HEADERS, string>>;

/** The trace headers of the last gateway call. */
function lastForwarded(app: TestApp): Forwarded {
  const headers = app.sandbox.requests('getCustomerId').at(-1)?.headers ?? {};
  return Object.fromEntries(
    HEADER_NAMES.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

describe('a request', () => {
  test('has a span, whose children are its gateway calls', async () => {
    await using service = await startTraced();
    const { collector, app, token } = service;
    const { errors } = await app.query(HOME, { token });
    expect(errors).toEqual([]);
    const request = await collector.find(isRequest);
    expect(request).toMatchObject({
      kind: 'server',
      parentSpanId: null,
      isError: false,
      links: [],
    });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'url.path': '/graphql',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'http.response.status_code': 200,
      'graphql.operation.type': 'query',
    });
    const calls = collector.childrenOf(request);
    expect(namesOf(calls)).toEqual(HOME_CALLS);
    for (const call of calls) {
      const { hostname, port } = new URL(app.sandbox.url);
      expect(call).toMatchObject({ kind: 'client', traceId: request.traceId, isError: false });
      expect(call.attributes).toEqual({
        'http.request.method': 'GET',
        'url.template': call.name.slice('GET '.length),
        'server.address': hostname,
        'server.port': Number(port),
        'http.response.status_code': 200,
      });
      expect(call.endNs).toBeGreaterThan(call.startNs);
    }
    // The gateway continues the trace under the span of its call.
    const call = calls.find(({ name }) => name === spanName('getCustomerId'));
    expect(lastForwarded(app).traceparent).toBe(`00-${call?.traceId}-${call?.spanId}-01`);
    const lines = app.logged.filter((line) => line.includes(`"traceId":"${request.traceId}"`));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['request']);

    // A request that is answered from the catalog in memory has a span, but no call.
    for (const _time of [1, 2]) {
      await app.query('{ instruments(first: 3) { nodes { id } } }', { token });
    }
    await eventually(() => expect(collector.spans.filter(isRequest)).toHaveLength(3));
    for (const later of collector.spans.filter(isRequest).slice(1)) {
      expect(collector.childrenOf(later)).toEqual([]);
    }
  });

  test('continues a trace only if it is from a trusted proxy', async () => {
    const vendorState = { tracestate: 'congo=1' };
    await using trusting = await startTraced(TRUSTED);
    const ask = ({ app, token }: typeof trusting, traceparent: string) =>
      app.query('{ customerId }', { token, headers: { traceparent, ...vendorState } });
    const spansOf = async ({ collector }: typeof trusting) => ({
      request: await collector.find(isRequest),
      call: await collector.find(({ kind }) => kind === 'client'),
    });
    await ask(trusting, SAMPLED);
    const continued = await spansOf(trusting);
    expect(continued.request).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      traceState: 'congo=1',
      links: [],
    });
    expect(lastForwarded(trusting.app)).toMatchObject({
      traceparent: `00-${TRACE_ID}-${continued.call.spanId}-01`,
      ...vendorState,
    });
    // A trusted decision not to sample is followed: the gateway receives it, and no span is exported.
    await ask(trusting, UNSAMPLED);
    expect(lastForwarded(trusting.app).traceparent).toMatch(
      new RegExp(`^00-${TRACE_ID}-(?!${PARENT_ID}).{16}-00$`),
    );
    const { spans } = trusting.collector;
    // Spans arrive in order, so a span of the unsampled request would arrive before the span of this new request.
    await trusting.app.query('{ __typename }');
    await eventually(() => expect(spans.filter(isRequest)).toHaveLength(2));
    expect(spans.filter(({ traceId }) => traceId === TRACE_ID)).toHaveLength(2);

    await using service = await startTraced();
    // A client that is not trusted cannot prevent sampling.
    await ask(service, UNSAMPLED);
    const { request, call } = await spansOf(service);
    expect(request.traceId).not.toBe(TRACE_ID);
    expect(request).toMatchObject({ parentSpanId: null, traceState: '', links: [] });
    const traceparent = `00-${request.traceId}-${call.spanId}-01`;
    expect(lastForwarded(service.app)).toMatchObject({ traceparent });
    expect(lastForwarded(service.app)).not.toHaveProperty('tracestate');
  });

  test('has an error span if the gateway or a plugin fails, but not for a client’s error', async () => {
    const onParse = ({ params }: { readonly params: { readonly source?: unknown } }) => {
      if (String(params.source).includes('inVain')) throw new TypeError('in vain');
    };
    await using service = await startTraced({}, { plugins: [{ onParse }] });
    const { collector, app, token } = service;
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503, times: 1 });
    await app.query('{ customerId }', { token });
    // The first attempt failed; the second has its own span and did not fail.
    const resent = await collector.find(
      ({ attributes }) => attributes['http.request.resend_count'] === 1,
    );
    const [first] = collector.spans.filter(
      ({ parentSpanId, spanId }) =>
        parentSpanId === resent.parentSpanId && spanId !== resent.spanId,
    );
    expect(resent.isError).toBe(false);
    expect(first).toMatchObject({
      isError: true,
      attributes: { 'error.type': '503', 'http.response.status_code': 503 },
    });
    expect(await collector.find(isRequest)).toMatchObject({ isError: false });

    app.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-after' });
    await app.query('query Failing { customerId }', { token });
    const request = await collector.find((span) => isRequest(span) && span.isError);
    expect(request.attributes).toMatchObject({
      'graphql.operation.type': 'query',
      'error.type': 'GATEWAY_UNAVAILABLE',
      'http.response.status_code': 200,
    });
    const calls = collector.childrenOf(request);
    // The first call and two retries.
    expect(calls).toHaveLength(3);
    for (const call of calls) expect(call.attributes['error.type']).toBe('connection');

    const before = collector.spans.filter(isRequest).length;
    await app.query('{ nonsense }');
    await app.query('{ customerId }', { token: null });
    await fetch(`${app.url}/graphql`, { method: 'POST', body: 'x' });
    await eventually(() => expect(collector.spans.filter(isRequest)).toHaveLength(before + 3));
    const later = collector.spans.filter(isRequest).slice(before);
    expect(later.map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(later.map(({ attributes }) => attributes['http.response.status_code'])).toContain(415);

    await app.query('{ inVain: customerId }');
    const failed = await collector.find(
      ({ attributes }) => attributes['http.response.status_code'] === 500,
    );
    expect(failed).toMatchObject({ isError: true, attributes: { 'error.type': 'INTERNAL' } });
  });

  test('has no error in its span or its log line if its client leaves', async () => {
    await using service = await startTraced();
    const { collector, app, token } = service;
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 600_000 });
    const client = new AbortController();
    const url = `${app.url}/graphql?query={customerId}`;
    const headers = { authorization: `Bearer ${token}` };
    const answer = fetch(url, { headers, signal: client.signal });
    await eventually(() => expect(app.sandbox.calls('getCustomerId')).toBe(1));
    client.abort();
    await expect(answer).rejects.toThrow();
    const request = await collector.find(({ name }) => name === 'GET /graphql');
    expect(request.isError).toBe(false);
    expect(request.attributes).not.toHaveProperty('http.response.status_code');
    expect((await lineOf(app, 'request')).outcome).toBe('gone');
  });
});

describe('a subscription', () => {
  test.each([
    ['WebSocket', webSocketClient],
    ['an event stream', sseClient],
  ] as const)('over %s has one span, for its start', async (transport, connect) => {
    await using service = await startTraced({ POSITIONS_POLL_MS: '100' });
    const { collector, app, token } = service;
    await using client = connect(app, token);
    client.watch({}, CHANGES);
    const isStart = ({ attributes }: CollectedSpan) =>
      attributes['graphql.operation.type'] === 'subscription';
    const root = await collector.find(isStart);
    const name = transport === 'WebSocket' ? 'subscription' : 'POST /graphql';
    expect(root).toMatchObject({ name, kind: 'server', parentSpanId: null, isError: false });
    // Each poll has a trace of its own, without links.
    const polls = await eventually(() => {
      const found = collector.spans.filter(({ attributes }) => attributes['trading_graph.poll']);
      expect(found.length).toBeGreaterThan(3);
      return found;
    });
    const separate = { name: spanName('getOpenPositions'), parentSpanId: null, links: [] };
    for (const poll of polls) expect(poll).toMatchObject(separate);
    const traces = [root, ...polls].map(({ traceId }) => traceId);
    expect(new Set(traces).size).toBe(1 + polls.length);
    for (const { headers } of app.sandbox.requests('getOpenPositions').slice(-3)) {
      expect(headers).not.toHaveProperty('tracestate');
      expect(headers).not.toHaveProperty('x-request-id');
    }
    expect(collector.spans.filter(isStart)).toHaveLength(1);
  });
});

test('two queries over one socket have separate traces', async () => {
  await using service = await startTraced(TRUSTED);
  const { collector, app, token } = service;
  const headers = { traceparent: SAMPLED, 'x-request-id': 'socket-1' };
  using socket = await initializedSocket(app, token, { headers });
  for (const field of ['customerId', 'withdrawalMethods { id }']) {
    socket.subscribe(field, `{ ${field} }`);
    await socket.until(field, 'complete');
  }
  const roots = await eventually(() => {
    const found = collector.spans.filter(({ kind }) => kind === 'server');
    expect(found).toHaveLength(2);
    return found;
  });
  for (const root of roots) {
    expect(root).toMatchObject({ name: 'query', parentSpanId: null, links: [] });
    expect(root.traceId).not.toBe(TRACE_ID);
    expect(collector.childrenOf(root)).toHaveLength(1);
    await eventually(() => app.logged.some((line) => line.includes(root.traceId)));
  }
  expect(roots[0]?.traceId).not.toBe(roots[1]?.traceId);
  expect(lastForwarded(app)['x-request-id']).toBe('socket-1');
});

test('spans contain no personal data', async () => {
  await using service = await startTraced();
  const { collector, app } = service;
  const email = 'demo@example.com';
  const token = await app.signIn(email);
  const headers = { baggage: 'user=canary-baggage', 'user-agent': 'canary-agent' };
  const { data } = await app.query('{ session { login balance } }', { token, headers });
  await app.query('query Canary700001 { customerId canaryField }', { token });
  await app.query(buying('canary-key', '__typename'), { token });
  await app.query(
    'mutation { setValue(input: { key: "canary-setting", value: "canary-value" }) { __typename } }',
    { token },
  );
  await fetch(`${app.url}/graphql?query={customerId}&variables={"canary":1}`);
  const deferred = `{ session { id } ... @defer(label: "canary ${token}") { customerId } }`;
  const accept = 'multipart/mixed;deferSpec=20220824';
  const authorization = `Bearer ${token}`;
  const body = JSON.stringify({ query: deferred });
  await rawPost(`${app.url}/graphql`, body, { accept, authorization });
  app.sandbox.fail({
    operation: 'getSession',
    kind: 'status',
    status: 403,
    body: { message: 'canary-reason' },
  });
  await app.query('{ session(maxAge: 0) { login } }', { token });
  const callCount = app.sandbox.requests().length;
  await eventually(() =>
    expect(collector.spans.filter(({ kind }) => kind === 'client')).toHaveLength(callCount),
  );
  await eventually(() => collector.spans.some(({ name }) => name === 'GET /graphql'));
  // Random ids, times and the gateway's port are left out, because they can contain the digits of a login by chance.
  const received = collector.bodies
    .join('\n')
    .replace(/"(?:startTimeUnixNano|endTimeUnixNano|traceId|spanId|parentSpanId)":"[^"]*"/g, '')
    .replace(/"server.port","value":\{"intValue":\d+\}/g, '');
  expect(received).toContain(firstCallOf(OPERATIONS.getSession).path);
  const secrets = [
    email,
    'demo',
    token,
    token.slice(-20),
    data.session.login,
    String(data.session.balance),
  ];
  for (const secret of [...secrets, 'canary', 'Canary', '127.0.0.1:']) {
    expect(received).not.toContain(secret);
  }
});

test('a collector that never answers delays neither requests nor the shutdown, even if the span queue is full', async () => {
  // An export can last longer than the test, so a request or a shutdown that waited for an export would fail the test.
  const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '120000', OTEL_BSP_EXPORT_TIMEOUT: '120000' };
  const small = { OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' };
  await using service = await startTraced({ ...patient, ...small }, { status: () => null });
  const { app, token } = service;
  for (let request = 0; request < 20; request += 1) {
    expect((await app.query('{ customerId }', { token })).errors).toEqual([]);
  }
  await app.close();
});

test('a collector that returns after a failure receives new spans', async () => {
  let status = 400;
  await using service = await startTraced({}, { status: () => status });
  const { collector, app } = service;
  await app.query('{ __typename }');
  await eventually(() => app.logged.some((line) => line.includes('spans cannot be exported')));
  status = 200;
  await app.query('{ __typename }');
  await collector.find(isRequest);
});

test('a shutdown exports the remaining spans as OTLP in JSON, with the headers and names of the `OTEL_` settings', async () => {
  await using service = await startTraced({
    OTEL_BSP_SCHEDULE_DELAY: '5000',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=secret%20key',
    OTEL_SERVICE_NAME: 'graph',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  const { collector, app } = service;
  await app.query('{ __typename }');
  expect(collector.spans).toEqual([]);
  await app.close();
  expect(namesOf(collector.spans)).toEqual(['POST /graphql']);
  expect(collector.exports[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/json', 'x-api-key': 'secret key' },
  });
  expect(collector.resource).toMatchObject({
    'service.name': 'graph',
    'deployment.environment.name': 'test',
    'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
    'telemetry.sdk.language': 'nodejs',
  });
});

/** Sends a query with these headers; returns the trace headers of its gateway call. */
async function forwardedOf(app: TestApp, headers: Record<string, string>): Promise<Forwarded> {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const { errors } = await app.query('{ customerId }', { token, headers });
  expect(errors).toEqual([]);
  return lastForwarded(app);
}

describe('without tracing', () => {
  const app = sharedApp(TRUSTED);

  test('the gateway receives the request id but no trace headers', async () => {
    expect(await forwardedOf(app, TRACE_HEADERS)).toEqual({ 'x-request-id': 'request-1' });
  });

  test.each(['two words', 'x'.repeat(129), 'eyJhbGciOi.x'])(
    'an invalid request id is replaced: %j',
    async (id) => {
      const arrived = await forwardedOf(app, { 'x-request-id': id });
      expect(arrived['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    },
  );
});

test('the id of a request is forwarded with its order, but not with polls', async () => {
  await using app = await startTestApp({ ...TRUSTED, POSITIONS_POLL_MS: '100' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  using socket = await initializedSocket(app, token, { headers: TRACE_HEADERS });
  const headers = { ...TRACE_HEADERS, 'x-request-id': 'order-1' };
  const { data } = await app.query(buying('k', '__typename'), { token, headers });
  expect(data.placeOrder.__typename).toBe('OrderAccepted');
  expect(app.sandbox.requests('openPosition')[0]?.headers['x-request-id']).toBe('order-1');
  await socket.watch('live', 'subscription { positionChanges { cursor } }');
  app.sandbox.clearCalls();
  await eventually(() => expect(app.sandbox.calls('getOpenPositions')).toBeGreaterThan(2));
  for (const { headers } of app.sandbox.requests('getOpenPositions')) {
    for (const name of HEADER_NAMES) expect(headers).not.toHaveProperty(name);
  }
});

test('a header of GATEWAY_HEADERS takes precedence over the same header of a request', async () => {
  const fixed = { 'x-request-id': 'fixed' };
  await using app = await startTestApp({ GATEWAY_HEADERS: JSON.stringify(fixed), ...TRUSTED });
  expect(await forwardedOf(app, TRACE_HEADERS)).toEqual(fixed);
});
