import { describe, expect, test } from 'vitest';
import type { GivenPlugin } from '../../../engine/plugins/open-plugins.ts';
import type { Environment } from '../../../src/config.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type CollectedSpan, startSpanCollector } from '../../support/span-collector.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { CHANGES, sseClient, webSocketClient } from '../live/watcher.ts';
import { seriesValue } from './scraped.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const UNSAMPLED = `00-${TRACE_ID}-${PARENT_ID}-00`;
const TRUSTED = { TRUSTED_PROXIES: '127.0.0.1' };

const HOME = `{
  session { balance equity currency }
  positions { symbol instrument { name } }
  withdrawalMethods { title }
  customerId
}`;
const HOME_CALLS = [
  'GET /payments/client/customer-id',
  'GET /payments/client/withdrawal-methods',
  'GET /trading/positions',
  'GET /trading/session/{login}',
  'GET /trading/tickers/{group}',
];
const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: $key }) { __typename }
}`;

interface TracedOptions {
  readonly directPath?: boolean;
  readonly plugins?: readonly GivenPlugin[];
  readonly status?: () => number | null;
}

/** A service that exports its spans at once, and the collector that it exports them to. */
async function traced(
  environment: Environment = {},
  { directPath = true, plugins = [], ...answers }: TracedOptions = {},
) {
  await using started = new AsyncDisposableStack();
  const collector = started.use(await startSpanCollector(answers));
  const exporting = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    ...environment,
  };
  const app = started.use(await startTestApp(exporting, { directPath, plugins }));
  const owned = started.move();
  return {
    ...{ collector, app, token: app.sandbox.token({ email: 'demo@example.com' }) },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const isRequest = ({ name }: CollectedSpan) => name === 'POST /graphql';
const namesOf = (spans: readonly CollectedSpan[]) => spans.map(({ name }) => name).toSorted();

/** The headers that the last gateway call forwarded from the request behind it. */
function carried(app: TestApp, operation: 'getCustomerId' | 'getOpenPositions' = 'getCustomerId') {
  const { traceparent, tracestate, baggage, ...headers } =
    app.sandbox.requests(operation).at(-1)?.headers ?? {};
  return { traceparent, tracestate, baggage, requestId: headers['x-request-id'] };
}

describe.each([
  ['the direct path', true],
  ['yoga', false],
])('a request by %s', (_, directPath) => {
  test('is a span, its operation one below, and each call of the gateway one below that', async () => {
    await using place = await traced({}, { directPath });
    const { collector, app, token } = place;
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
    });
    const [operation, ...others] = collector.childrenOf(request);
    expect(others).toEqual([]);
    if (operation === undefined) throw new Error('no operation');
    expect(operation).toMatchObject({
      name: 'query',
      kind: 'internal',
      traceId: request.traceId,
      attributes: { 'graphql.operation.type': 'query' },
    });
    const calls = collector.childrenOf(operation);
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
      expect(call.startNs).toBeGreaterThanOrEqual(operation.startNs);
      expect(call.endNs).toBeLessThanOrEqual(operation.endNs);
      expect(call.endNs).toBeGreaterThan(call.startNs);
    }
    expect(operation.startNs).toBeGreaterThanOrEqual(request.startNs);
    expect(operation.endNs).toBeLessThanOrEqual(request.endNs);
    // The gateway continues the trace below the span of its own call.
    const call = calls.find(({ name }) => name.endsWith('/customer-id'));
    expect(carried(app).traceparent).toBe(`00-${call?.traceId}-${call?.spanId}-01`);
    const lines = app.logged.filter((line) => line.includes(`"traceId":"${request.traceId}"`));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['request']);

    // One that is answered from the catalog in memory has its spans as well.
    for (const _time of [1, 2]) {
      await app.query('{ instruments(first: 3) { nodes { id } } }', { token });
    }
    await eventually(() => collector.spans.filter(isRequest).length === 3);
    for (const later of collector.spans.filter(isRequest).slice(1)) {
      expect(namesOf(collector.childrenOf(later))).toEqual(['query']);
    }
  });

  test('continues the trace of a trusted proxy', async () => {
    await using place = await traced(TRUSTED, { directPath });
    const { collector, app, token } = place;
    const headers = { traceparent: SAMPLED, tracestate: 'congo=1', baggage: 'tenant=blue' };
    await app.query('{ customerId }', { token, headers });
    const request = await collector.find(isRequest);
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID, links: [] });
    expect(request.traceState).toBe('congo=1');
    const call = await collector.find(({ kind }) => kind === 'client');
    expect(carried(app)).toMatchObject({
      traceparent: `00-${TRACE_ID}-${call.spanId}-01`,
      tracestate: 'congo=1',
      baggage: 'tenant=blue',
    });
    // Its decision not to sample counts as well.
    await app.query('{ customerId }', { token, headers: { traceparent: UNSAMPLED } });
    expect(carried(app).traceparent).toMatch(
      new RegExp(`^00-${TRACE_ID}-(?!${PARENT_ID}).{16}-00$`),
    );
    await app.query('{ __typename }');
    await eventually(() => collector.spans.filter(isRequest).length === 2);
    expect(collector.spans.filter(({ traceId }) => traceId === TRACE_ID)).toHaveLength(3);
  });

  test('links the trace of anybody else, which decides nothing', async () => {
    await using place = await traced({}, { directPath });
    const { collector, app, token } = place;
    // It cannot keep its request from being sampled.
    const headers = { traceparent: UNSAMPLED, tracestate: 'congo=1', baggage: 'tenant=blue' };
    await app.query('{ customerId }', { token, headers });
    const request = await collector.find(isRequest);
    expect(request.traceId).not.toBe(TRACE_ID);
    expect(request).toMatchObject({
      parentSpanId: null,
      traceState: '',
      links: [{ traceId: TRACE_ID, spanId: PARENT_ID }],
    });
    const call = await collector.find(({ kind }) => kind === 'client');
    expect(carried(app)).toMatchObject({
      traceparent: `00-${request.traceId}-${call.spanId}-01`,
      tracestate: undefined,
      baggage: 'tenant=blue',
    });
  });

  test('is a failure by its code where gateway or facade fail, and not where its client does', async () => {
    await using place = await traced({}, { directPath });
    const { collector, app, token } = place;
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503, times: 1 });
    await app.query('{ customerId }', { token });
    // The first attempt failed; the second, a span of its own, did not.
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
    expect(await collector.find(({ name }) => name === 'query')).toMatchObject({ isError: false });

    app.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-after' });
    await app.query('query Failing { customerId }', { token });
    const operation = await collector.find(({ name, isError }) => name === 'query' && isError);
    expect(operation.attributes).toEqual({
      'graphql.operation.type': 'query',
      'error.type': 'GATEWAY_UNAVAILABLE',
    });
    const calls = collector.childrenOf(operation);
    expect(calls).toHaveLength(3);
    for (const call of calls) expect(call.attributes['error.type']).toBe('connection');

    const seen = collector.spans.filter(isRequest).length;
    await app.query('{ nonsense }');
    await app.query('{ customerId }', { token: null });
    await fetch(`${app.url}/graphql`, { method: 'POST', body: 'x' });
    await eventually(() => collector.spans.filter(isRequest).length === seen + 3);
    const later = collector.spans.filter(isRequest).slice(seen);
    expect(later.map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(later.map(({ attributes }) => attributes['http.response.status_code'])).toContain(415);
    const refused = later.flatMap((request) => collector.childrenOf(request));
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ isError: false });
  });

  test('is a failure by its status where a plugin fails', async () => {
    const onParse = () => {
      throw new TypeError('in vain');
    };
    await using place = await traced({}, { directPath, plugins: [{ onParse }] });
    await place.app.query('{ customerId }');
    const { attributes } = await place.collector.find(isRequest);
    expect(attributes).toMatchObject({ 'error.type': '500', 'http.response.status_code': 500 });
  });

  test('is no failure where its client leaves before the answer, and neither is its call', async () => {
    await using place = await traced({}, { directPath });
    const { collector, app, token } = place;
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'hang' });
    const client = new AbortController();
    const asked = fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: '{ customerId }' }),
      signal: client.signal,
    });
    await eventually(() => app.sandbox.calls('getCustomerId') === 1);
    client.abort();
    await expect(asked).rejects.toThrow();
    const request = await collector.find(isRequest);
    expect(request.isError).toBe(false);
    expect(request.attributes).not.toHaveProperty('http.response.status_code');
    const call = await collector.find(({ kind }) => kind === 'client');
    expect(call).toMatchObject({ traceId: request.traceId, isError: false });
    expect(call.attributes).not.toHaveProperty('http.response.status_code');
  });
});

describe('what is sampled', () => {
  const NONE_ELSE = {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  };

  test('orders are, whatever the share of the others', async () => {
    await using place = await traced(NONE_ELSE);
    const { collector, app, token } = place;
    const headers = { traceparent: SAMPLED };
    await app.query('{ customerId }', { token, headers });
    expect(carried(app).traceparent).toMatch(/-00$/);
    await fetch(`${app.url}/graphql`, { method: 'POST', body: 'x' });
    await app.query('mutation { setValue(input: { key: "k", value: 1 }) { __typename } }', {
      token,
    });
    const { data } = await app.query(ORDER, { token, variables: { key: 'key-1' } });
    expect(data.placeOrder.__typename).toBe('OrderAccepted');
    const inFragment = ORDER.replace(
      'placeOrder',
      '... on Mutation { ...F } }\nfragment F on Mutation { placeOrder',
    );
    await app.query(inFragment, { token, variables: { key: 'key-2' } });
    await eventually(() => collector.spans.filter(isRequest).length === 2);
    const operations = collector.spans.filter(({ kind }) => kind === 'internal');
    expect(namesOf(operations)).toEqual(['mutation', 'mutation']);
    const orders = collector.spans.filter(({ name }) => name === 'POST /trading/positions');
    expect(orders.map(({ parentSpanId }) => parentSpanId)).toEqual(
      operations.map(({ spanId }) => spanId),
    );
  });

  test('orders are where a trusted proxy decided otherwise, and nothing is with always_off', async () => {
    await using some = await traced({ ...NONE_ELSE, ...TRUSTED });
    await using off = await traced({ OTEL_TRACES_SAMPLER: 'always_off', ...TRUSTED });
    for (const [{ app, token }, traceparent] of [
      [off, SAMPLED],
      [some, UNSAMPLED],
    ] as const) {
      await app.query(ORDER, { token, variables: { key: 'key-1' }, headers: { traceparent } });
    }
    expect((await some.collector.find(isRequest)).traceId).toBe(TRACE_ID);
    await off.app.close();
    expect(off.collector.spans).toEqual([]);
  });
});

describe('a subscription', () => {
  const TRANSPORTS = [
    ['WebSocket', webSocketClient],
    ['an event stream', sseClient],
  ] as const;

  test.each(TRANSPORTS)('over %s is one span, of its start', async (transport, connect) => {
    await using place = await traced({ POSITIONS_POLL_MS: '100' });
    const { collector, app, token } = place;
    const client = connect(app, token);
    try {
      const watcher = client.watch({}, CHANGES);
      await eventually(() => watcher.events.length > 0);
      const operation = await collector.find(({ name }) => name === 'subscription');
      const root = transport === 'WebSocket' ? operation : await collector.find(isRequest);
      expect(root).toMatchObject({ kind: 'server', parentSpanId: null });
      if (root !== operation) expect(collector.childrenOf(root)).toEqual([operation]);
      await eventually(() => app.sandbox.calls('getOpenPositions') > 4);
      // The polls are traces of their own, linked to nobody.
      const polls = await eventually(() => {
        const found = collector.spans.filter(({ attributes }) => attributes['trading_graph.poll']);
        expect(found.length).toBeGreaterThan(3);
        return found;
      });
      for (const poll of polls) {
        expect(poll).toMatchObject({
          name: 'GET /trading/positions',
          parentSpanId: null,
          links: [],
        });
        expect(poll.traceId).not.toBe(root.traceId);
      }
      expect(new Set(polls.map(({ traceId }) => traceId)).size).toBe(polls.length);
      expect(carried(app, 'getOpenPositions').requestId).toBeUndefined();
      expect(collector.spans.filter(({ name }) => name === 'subscription')).toHaveLength(1);
    } finally {
      await client.dispose();
    }
  });

  test('and a query over one socket are traces of their own, linked to the upgrade', async () => {
    await using place = await traced(TRUSTED);
    const { collector, app, token } = place;
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
      expect(root).toMatchObject({
        name: 'query',
        parentSpanId: null,
        links: [{ traceId: TRACE_ID, spanId: PARENT_ID }],
      });
      expect(collector.childrenOf(root)).toHaveLength(1);
      await eventually(() => app.logged.some((line) => line.includes(root.traceId)));
    }
    expect(roots[0]?.traceId).not.toBe(roots[1]?.traceId);
    expect(carried(app).requestId).toBe('socket-1');
  });
});

test('nothing personal is in a span', async () => {
  await using place = await traced();
  const { collector, app } = place;
  const email = 'demo@example.com';
  const token = await app.signIn(email);
  const headers = { baggage: 'user=canary-baggage', 'user-agent': 'canary-agent' };
  const { data } = await app.query('{ session { login balance } }', { token, headers });
  await app.query('query Canary700001 { customerId canaryField }', { token });
  await app.query(ORDER, { token, variables: { key: 'canary-key' } });
  await app.query(
    'mutation { setValue(input: { key: "canary-setting", value: "canary-value" }) { __typename } }',
    { token },
  );
  await fetch(`${app.url}/graphql?query={customerId}&variables={"canary":1}`);
  app.sandbox.fail({
    operation: 'getSession',
    kind: 'status',
    status: 403,
    body: { message: 'canary-reason' },
  });
  await app.query('{ session(maxAge: 0) { login } }', { token });
  const sent = app.sandbox.requests().length;
  await eventually(() => collector.spans.filter(({ kind }) => kind === 'client').length === sent);
  await eventually(() => collector.spans.some(({ name }) => name === 'GET /graphql'));
  // Without what is drawn at random or counts up, in which any number may turn up.
  const received = collector.bodies
    .join('\n')
    .replace(/"(?:startTimeUnixNano|endTimeUnixNano|traceId|spanId|parentSpanId)":"[^"]*"/g, '')
    .replace(/"server.port","value":\{"intValue":\d+\}/g, '');
  expect(received).toContain('/trading/session/{login}');
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

describe('a collector that', () => {
  // Longer than the test may take: a request or a shutdown that waited for an export would not end in time.
  const PATIENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '120000', OTEL_BSP_EXPORT_TIMEOUT: '120000' };

  test('never answers delays neither requests nor the shutdown; the queue is bounded', async () => {
    const small = { OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' };
    await using place = await traced({ ...PATIENT, ...small }, { status: () => null });
    const { app, token } = place;
    for (let sent = 0; sent < 20; sent += 1) {
      expect((await app.query('{ customerId }', { token })).errors).toEqual([]);
    }
    const dropped = () => seriesValue(app, 'spans_dropped_total{reason="queue_full"}');
    // Three spans for each of the twenty, of which two are under way and four wait.
    await eventually(async () => (await dropped()) === 60 - 6);
    await app.close();
  });

  test('fails and comes back has the spans that follow', async () => {
    let status = 400;
    await using place = await traced({}, { status: () => status });
    const { collector, app } = place;
    await app.query('{ __typename }');
    await eventually(() => app.logged.some((line) => line.includes('spans cannot be exported')));
    expect(await seriesValue(app, 'spans_dropped_total{reason="export"}')).toBe(2);
    status = 200;
    await app.query('{ __typename }');
    await collector.find(isRequest);
    await eventually(() => app.logged.some((line) => line.includes('spans are exported again')));
  });
});

test('a shutdown exports what is left, as OTLP in JSON, with the headers and the names of the environment', async () => {
  await using place = await traced({
    OTEL_BSP_SCHEDULE_DELAY: '5000',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=secret%20key',
    OTEL_SERVICE_NAME: 'graph',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  const { collector, app } = place;
  await app.query('{ __typename }');
  expect(collector.spans).toEqual([]);
  await app.close();
  expect(namesOf(collector.spans)).toEqual(['POST /graphql', 'query']);
  expect(collector.exports[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/json', 'x-api-key': 'secret key' },
  });
  expect(collector.resource).toMatchObject({
    'service.name': 'graph',
    'deployment.environment.name': 'test',
    'telemetry.sdk.language': 'nodejs',
  });
});
