import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE_ID}-${PARENT_ID}-01`;
const TRUSTED = { TRUSTED_PROXIES: '127.0.0.1' };
const ALL = {
  traceparent: SAMPLED,
  tracestate: 'rojo=1,congo=2',
  baggage: 'tenant=blue,release=7;canary',
  'x-request-id': 'request-1',
};
const NAMES = Object.keys(ALL) as (keyof typeof ALL)[];

type Forwarded = Partial<Record<keyof typeof ALL, string>>;

/** The headers that the last gateway call forwarded from the request behind it. */
function forwarded(app: TestApp): Forwarded {
  const headers = app.sandbox.requests('getCustomerId').at(-1)?.headers ?? {};
  return Object.fromEntries(
    NAMES.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

async function sent(app: TestApp, headers: Readonly<Record<string, string>>): Promise<Forwarded> {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const { errors } = await app.query('{ customerId }', { token, headers });
  expect(errors).toEqual([]);
  return forwarded(app);
}

describe.each([
  ['the direct path', true],
  ['yoga', false],
])('without tracing, by %s,', (_, directPath) => {
  const app = sharedApp(TRUSTED, { directPath });

  test('the trace of a trusted proxy is sent on to the gateway as it is', async () => {
    expect(await sent(app, ALL)).toEqual(ALL);
    const { traceparent, baggage, ...rest } = ALL;
    expect(await sent(app, { traceparent, 'x-request-id': 'r' })).toEqual({
      traceparent,
      'x-request-id': 'r',
    });
    // A baggage needs no trace, and a tracestate is nothing without one.
    expect(await sent(app, { baggage, ...rest })).toEqual({ baggage, 'x-request-id': 'request-1' });
  });

  test('that of anybody else keeps its id, and makes nobody record it', async () => {
    await using own = await startTestApp({}, { directPath });
    const { traceparent, ...rest } = await sent(own, ALL);
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-[\\da-f]{16}-00$`));
    expect(traceparent).not.toContain(PARENT_ID);
    expect(rest).toEqual({ baggage: ALL.baggage, 'x-request-id': 'request-1' });
    const again = await sent(own, ALL);
    expect(again.traceparent).not.toBe(traceparent);
  });

  test('a request without a trace has its id sent on alone', async () => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { headers } = await app.query('{ customerId }', { token });
    expect(forwarded(app)).toEqual({ 'x-request-id': headers.get('x-request-id') });
  });

  test.each([
    ['traceparent', SAMPLED.toUpperCase()],
    ['traceparent', SAMPLED.replace(TRACE_ID, '0'.repeat(32))],
    ['traceparent', SAMPLED.replace(PARENT_ID, '0'.repeat(16))],
    ['traceparent', [SAMPLED, SAMPLED]],
    ['traceparent', `${SAMPLED}-${'x'.repeat(8_000)}`],
    ['tracestate', `a=${'\u00e9'}`],
    ['tracestate', `a=${'x'.repeat(8_000)}`],
    ['baggage', `a=${'\u00e9'}`],
    ['traceparent', `${SAMPLED}-more`],
    ['traceparent', SAMPLED.replace('00-', 'ff-')],
    ['traceparent', SAMPLED.slice(0, -1)],
    ['baggage', `a=${'x'.repeat(1_023)}`],
    ['baggage', ['a=1', `b=${'x'.repeat(1_020)}`]],
    ['x-request-id', 'two words'],
    ['x-request-id', 'x'.repeat(129)],
  ])('a %s that is malformed or too long is not sent on (%#)', async (name, value) => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { status } = await rawRequest(`${app.url}/graphql?query={customerId}`, {
      headers: { authorization: `Bearer ${token}`, ...ALL, [name]: value },
    });
    expect(status).toBe(200);
    const arrived = forwarded(app);
    const { [name as keyof typeof ALL]: _dropped, ...others } = ALL;
    if (name === 'x-request-id') {
      expect(arrived['x-request-id']).toMatch(/^[\da-f-]{36}$/);
      expect(arrived).toMatchObject(others);
    } else {
      // Nothing is left of a state without its trace.
      const { tracestate: _state, ...traceless } = others as typeof ALL;
      expect(arrived).toEqual(name === 'traceparent' ? traceless : others);
    }
  });
});

describe('without tracing,', () => {
  test('the operations of a socket send on what its upgrade brought; polls send nothing', async () => {
    await using app = await startTestApp({ ...TRUSTED, POSITIONS_POLL_MS: '100' });
    const token = app.sandbox.token({ email: 'demo@example.com' });
    using socket = await initializedSocket(app, token, { headers: ALL });
    socket.subscribe('query', '{ customerId }');
    const { payload } = await socket.until('query', 'next');
    expect(payload.data).toEqual({ customerId: 'cus_700001' });
    expect(forwarded(app)).toEqual(ALL);
    socket.subscribe('live', 'subscription { positionChanges { cursor } }');
    await socket.until('live', 'next');
    app.sandbox.clearCalls();
    await eventually(() => app.sandbox.calls('getOpenPositions') > 2);
    for (const { headers } of app.sandbox.requests('getOpenPositions')) {
      for (const name of NAMES) expect(headers).not.toHaveProperty(name);
    }
  });

  test('what a mutation sends belongs to its request, an order included', async () => {
    await using app = await startTestApp(TRUSTED);
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { data } = await app.query(
      `mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "k" }) { __typename } }`,
      { token, headers: ALL },
    );
    expect(data.placeOrder.__typename).toBe('OrderAccepted');
    const [order] = app.sandbox.requests('openPosition');
    expect(order?.headers).toMatchObject(ALL);
  });
});

test.each([
  ['without tracing', {}],
  ['with tracing', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...TRUSTED }],
])('%s fixed headers of the gateway win over those of a request', async (_, environment) => {
  const fixed = { traceparent: SAMPLED.replace('-01', '-00'), 'x-request-id': 'fixed' };
  const GATEWAY_HEADERS = JSON.stringify(fixed);
  await using app = await startTestApp({ GATEWAY_HEADERS, ...environment });
  expect(await sent(app, ALL)).toEqual(fixed);
});
