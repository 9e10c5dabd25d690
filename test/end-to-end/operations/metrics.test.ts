import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { rawPost, rawResponse } from '../../support/raw-request.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startedOnce } from '../../support/started.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { askBy } from '../limits/every-transport.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { EMAILS } from './accounts.ts';
import { linesOf } from './request-lines.ts';
import { expectRise, scrape, seriesValue } from './scraped.ts';

const HOME = 'query Home { session { balance } positions { id } customerId }';
const SYMBOLS = '{ instruments(first: 2) { nodes { symbol } } }';
const LIVE = 'subscription Live { positionChanges { cursor } }';
const askByStream = askBy('event stream');

const CACHES = 'catalog document positions quota session token'.split(' ');

/** Metrics that have no series until something is measured. */
const WITHOUT_INITIAL_SERIES =
  /_(clock_skew_seconds|missing_fields|catalog_left_seconds|catalog_(skipped|(offered_)?instruments))$/;

const METRICS_PAGE = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8');

let app: TestApp;
let token: string;
const folder = startedOnce(temporaryFolder);

beforeAll(async () => {
  const manifest = join(folder.path, 'manifest.json');
  await writeFile(manifest, JSON.stringify({ home: HOME, live: LIVE }));
  const settings = {
    PERSISTED_DOCUMENTS: manifest,
    POSITIONS_POLL_MS: '100',
    MAX_BODY_BYTES: '10000',
    LOGIN_LIMIT_PER_MINUTE: '5',
  };
  app = await startTestApp(settings, { refills: false });
  token = await app.signIn();
});
afterEach(() => app.sandbox.clearFaults());
afterAll(() => app.close());

/** Sends a document, and waits until the series has grown by one. */
const expectCounted = (series: string, document: string, sentToken: string | null = token) =>
  expectRise(app, series, 1, () => app.query(document, { token: sentToken }));

const failWithStatus = (
  operation: 'getCustomerId' | 'getOpenPositions' | 'openPosition',
  status: number,
) => app.sandbox.fail({ operation, kind: 'status', status });

test('every documented metric exists from the start, in the format of Prometheus', async () => {
  await using fresh = await startTestApp();
  const { text } = await scrape(fresh);
  const types = [...text.matchAll(/^# TYPE (trading_graph_\w+) (\w+)$/gm)];
  const documented = [...METRICS_PAGE.matchAll(/^- `(trading_graph_\w+)/gm)];
  expect(types.map(([, name]) => name)).toEqual(documented.map(([, name]) => name));
  for (const [, name = '', type] of types) {
    if (WITHOUT_INITIAL_SERIES.test(name)) continue;
    expect(text).toContain(`\n${type === 'histogram' ? `${name}_count` : name}`);
  }
  // Each line is empty, a comment, or a series with optional labels and a value.
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(/^(|# (HELP|TYPE) \S+ .+|[a-z_\d]+(\{([a-z_]+="[^"\n]*",?)+\})? \S+)$/);
  }
  for (const metric of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']) {
    expect(text).toContain(`\n${metric} `);
  }
  // Prometheus fetches this text every few seconds from each replica, so the text must stay short.
  expect(text.split('\n').length).toBeLessThan(2_000);
});

describe('requests', () => {
  test('are counted by transport and outcome', async () => {
    const series = (transport: string, outcome: string) =>
      `operations_total{transport="${transport}",outcome="${outcome}"}`;
    await expectCounted(series('http', 'ok'), HOME);
    expect(linesOf(app, 'request').at(-1)).toMatchObject({ document: 'trusted' });
    await expectCounted(series('http', 'caller'), '{ nothing }');
    failWithStatus('getCustomerId', 500);
    await expectCounted(series('http', 'fault'), HOME);
    app.sandbox.clearFaults();
    await expectRise(app, series('sse', 'ok'), 1, () => askByStream(app, { query: LIVE }, token));
    expect(linesOf(app, 'subscription ended').at(-1)).toMatchObject({ transport: 'sse' });
    using socket = await initializedSocket(app, token);
    await expectRise(app, series('websocket', 'ok'), 1, async () => {
      socket.subscribe('1', HOME);
    });
  });
});

test('errors are counted by code and operation, and refusals by limit', async () => {
  const errors = (code: string, operation: string) =>
    `errors_total{code="${code}",operation="${operation}"}`;
  const refusals = (limit: string) => `refusals_total{limit="${limit}"}`;
  failWithStatus('getCustomerId', 429);
  await expectCounted(errors('RATE_LIMITED', 'getCustomerId'), '{ customerId }');
  await expectCounted(errors('UNAUTHENTICATED', 'none'), '{ customerId }', null);
  for (const series of [errors('PAYLOAD_TOO_LARGE', 'none'), refusals('MAX_BODY_BYTES')]) {
    await expectRise(app, series, 1, () => rawPost(`${app.url}/graphql`, 'x'.repeat(20_000), {}));
  }
  const deep = `{ instruments { nodes ${'{ positions { instrument '.repeat(10)}{ id }${' } }'.repeat(10)} } }`;
  await expectCounted(refusals('MAX_DEPTH'), deep);
  await using limited = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1' });
  await limited.query('{ __typename }');
  await expectRise(limited, refusals('RATE_LIMIT_PER_MINUTE'), 1, () =>
    limited.query('{ __typename }'),
  );
  expect(await seriesValue(limited, errors('RATE_LIMITED', 'none'))).toBe(1);
});

describe('the gateway', () => {
  const calls = (operation: string, outcome: string, origin = 'request') =>
    `gateway_calls_total{operation="${operation}",origin="${origin}",outcome="${outcome}"}`;

  test('has metrics of calls by outcome, connections and retries', async () => {
    await expectCounted(calls('getCustomerId', 'ok'), '{ customerId }');
    const timed = 'gateway_call_seconds_count{operation="getCustomerId",origin="request"}';
    expect(await seriesValue(app, timed)).toBeGreaterThan(0);
    const connections = 'gateway_connections{area="rest",state=';
    expect(await seriesValue(app, `${connections}"open"}`)).toBeGreaterThan(0);
    expect(await seriesValue(app, `${connections}"max"}`)).toBe(32);
    failWithStatus('getCustomerId', 500);
    await expectRise(app, 'gateway_retries_total{operation="getCustomerId"}', 2, () =>
      app.query('{ customerId }', { token }),
    );
    app.sandbox.clearFaults();
    const write = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
    for (const [operation, document, fault, outcome] of [
      ['setValue', write, { kind: 'status', status: 422 }, '4xx'],
      ['setValue', write, { kind: 'status', status: 429 }, '429'],
      ['setValue', write, { kind: 'status', status: 302 }, 'contract'],
      ['setValue', write, { kind: 'reset-after' }, 'reset'],
      ['getCustomerId', '{ customerId }', { kind: 'status', status: 404 }, '4xx'],
      ['getCustomerId', '{ customerId }', { kind: 'status', status: 404, body: '' }, 'contract'],
    ] as const) {
      app.sandbox.fail({ operation, ...fault });
      await expectCounted(calls(operation, outcome), document);
      app.sandbox.clearFaults();
    }
  });

  test('has metrics of polls apart from queries', async () => {
    using socket = await initializedSocket(app, token);
    const before = await seriesValue(app, calls('getOpenPositions', 'ok', 'poll'));
    socket.subscribe('1', LIVE);
    await eventually(
      async () => (await seriesValue(app, calls('getOpenPositions', 'ok', 'poll'))) > before + 1,
    );
    // The feed of an earlier test ends soon after its last subscriber.
    await eventually(async () => expect(await seriesValue(app, 'feeds')).toBe(1));
    await eventually(async () => expect(await seriesValue(app, 'subscriptions')).toBe(1));
    expect(await seriesValue(app, 'sockets')).toBeGreaterThanOrEqual(1);
    failWithStatus('getOpenPositions', 503);
    await eventually(async () => expect(await seriesValue(app, 'feeds_delayed')).toBe(1));
    await eventually(async () =>
      expect(await seriesValue(app, 'feed_oldest_seconds')).toBeGreaterThan(0.2),
    );
  });
});

describe('the caches', () => {
  test('have metrics of the catalog and its fetches', async () => {
    await using other = await startTestApp({ CATALOG_MAX_AGE_SECONDS: '3600' });
    const own = await other.signIn();
    const value = (name: string) => seriesValue(other, name);
    const ofGroup = (name: string) => value(`${name}{group="standard-usd"}`);
    const fetches = (outcome: string) => `catalog_fetches_total{outcome="${outcome}"}`;
    const read = (token = own) => other.query(SYMBOLS, { token });
    expect(await value('catalog_left_seconds')).toBeNaN();
    // By the gateway's Age header the catalog is fresh for two more seconds.
    other.sandbox.changeCatalog({ broken: 3, ageSeconds: 3_598 });
    await expectRise(other, fetches('modified'), 1, read);
    expect(await ofGroup('catalog_skipped')).toBe(3);
    // A stale catalog is served for 3,600 seconds more. The seconds that the test takes are rounded away.
    expect(Math.round((await value('catalog_left_seconds')) / 100)).toBe(36);
    expect(await ofGroup('catalog_instruments')).toBeGreaterThan(400);
    expect(await ofGroup('catalog_offered_instruments')).toBe(await ofGroup('catalog_instruments'));
    other.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 503 });
    await eventually(async () => {
      await read();
      expect(await value('stale_catalogs')).toBe(1);
      expect(await value(fetches('failed'))).toBeGreaterThan(0);
    });
    other.sandbox.clearFaults();
    other.sandbox.changeCatalog({ ageSeconds: 0 });
    await eventually(async () => {
      await read();
      expect(await value(fetches('unmodified'))).toBe(1);
    });
    expect(await value('stale_catalogs')).toBe(0);
    // A 403 concerns only the token of its request, so it does not count as a failed fetch.
    other.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 403, times: 1 });
    await expectRise(other, fetches('personal'), 1, () =>
      read(other.sandbox.token({ email: 'pro@example.com' })),
    );
  });

  test('have metrics of their sizes', async () => {
    await app.query(SYMBOLS, { token });
    const query = '{ positions { id instrument { name } } session { balance } }';
    await app.query(query, { token });
    for (const cache of CACHES) {
      const bytes = await seriesValue(app, `cache_bytes{cache="${cache}"}`);
      expect(bytes, cache).toBeGreaterThan(100);
    }
  });
});

describe('live', () => {
  test('metrics show stretched poll intervals and calls that wait for a connection', async () => {
    await using other = await startTestApp({
      GATEWAY_POLLS_PER_SECOND: '1',
      GATEWAY_CONNECTIONS: '3',
      // A call can wait for a connection for half of this timeout, which is longer than this test.
      GATEWAY_TIMEOUT_MS: '60000',
      POSITIONS_POLL_MS: '100',
    });
    expect(await seriesValue(other, 'feed_poll_stretch')).toBe(1);
    using sockets = new DisposableStack();
    for (const email of EMAILS) {
      const own = other.sandbox.token({ email });
      sockets.use(await initializedSocket(other, own)).subscribe('1', LIVE);
    }
    await eventually(async () => {
      expect(await seriesValue(other, 'feed_poll_stretch')).toBeGreaterThan(2);
    });
    other.sandbox.fail({ operation: '*', kind: 'delay', delayMs: 1_500 });
    // Equal reads of one token share a call, so each read has a token of its own. Of twelve reads some wait for a connection
    // even on a busy machine.
    const answers = Array.from({ length: 12 }, (_, index) => {
      const own = other.sandbox.token({ email: `user-${index + 1}@example.com` });
      return other.query('{ session(maxAge: 0) { login } customerId }', { token: own });
    });
    const waiting = 'gateway_calls_waiting{area="rest"}';
    await eventually(async () => (await seriesValue(other, waiting)) > 0);
    other.sandbox.clearFaults();
    await Promise.all(answers);
    await eventually(async () => expect(await seriesValue(other, waiting)).toBe(0));
  });

  test('an ended subscription is no longer counted, whether the client or the service ended it', async () => {
    await using other = await startTestApp({ POSITIONS_POLL_MS: '100' });
    const own = await other.signIn();
    const expectSubscriptions = (count: number) =>
      eventually(async () => expect(await seriesValue(other, 'subscriptions')).toBe(count));
    // One client disconnects after its first event, and the next client before its first event.
    await askByStream(other, { query: LIVE }, own);
    await expectSubscriptions(0);
    other.sandbox.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 1_000, times: 1 });
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${own}` };
    const search = new URLSearchParams({ query: LIVE });
    const stream = await rawResponse(`${other.url}/graphql?${search}`, { headers });
    await expectSubscriptions(1);
    stream.destroy();
    await expectSubscriptions(0);
    // A client completes one of two subscriptions; then another client's socket is cut.
    using kept = await initializedSocket(other, own);
    await kept.watch('1', LIVE);
    await kept.watch('2', LIVE);
    await expectSubscriptions(2);
    kept.send({ id: '1', type: 'complete' });
    await expectSubscriptions(1);
    {
      using left = await initializedSocket(other, own);
      await left.watch('1', LIVE);
      await expectSubscriptions(2);
    }
    await expectSubscriptions(1);
    other.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401, times: 1 });
    await kept.untilClosed();
    await expectSubscriptions(0);
  });
});

describe('orders', () => {
  test('are counted by outcome, without repeats', async () => {
    await using other = await startTestApp();
    const own = await other.signIn();
    const order = (key: string, symbol: string) =>
      buying(key, '__typename').replace('AAPL', symbol);
    const place = (key: string, symbol = 'AAPL', token: string | null = own) =>
      other.query(order(key, symbol), { token });
    await expectRise(other, 'orders_total{outcome="accepted"}', 1, () => place('a'));
    await expectRise(other, 'orders_total{outcome="accepted"}', 0, () => place('a'));
    await expectRise(other, 'orders_total{outcome="rejected"}', 1, () => place('b', 'TEST.REJECT'));
    await expectRise(other, 'orders_total{outcome="unknown"}', 1, () => place('c', 'TEST.UNKNOWN'));
    other.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429 });
    await expectRise(other, 'orders_total{outcome="unsent"}', 1, () => place('d'));
    other.sandbox.clearFaults();
    // Orders with refused tokens are not counted as `unsent`, which counts failures of the service.
    const forged = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(600) });
    for (const token of [forged, 'nonsense', null]) await place('x', 'AAPL', token);
    other.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 403 });
    expect((await place('d')).errors[0]?.extensions.code).toBe('FORBIDDEN');
    other.sandbox.clearFaults();
    expect(await seriesValue(other, 'orders_total{outcome="unsent"}')).toBe(1);
    expect(await seriesValue(other, 'order_records')).toBe(3);
    expect(await seriesValue(other, 'order_records_max')).toBe(200_000);
    // Long enough to be seen on a busy machine.
    other.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 5_000, times: 1 });
    const slow = place('e');
    await eventually(
      async () => (await seriesValue(other, 'order_oldest_under_way_seconds')) > 0.1,
    );
    await slow;
    expect(await seriesValue(other, 'order_oldest_under_way_seconds')).toBe(0);
  });
});

test('tokens and sign-ins are counted by result', async () => {
  const signIn = (password: string) =>
    `mutation { login(input: { email: "pro@example.com", password: "${password}" }) { __typename } }`;
  const signIns = (outcome: string, password: string) =>
    expectCounted(`sign_ins_total{outcome="${outcome}"}`, signIn(password), null);
  await signIns('granted', 'demo');
  await signIns('rejected', 'wrong');
  app.sandbox.fail({ operation: 'login', kind: 'status', status: 500 });
  await signIns('failed', 'demo');
  app.sandbox.clearFaults();
  // After its sign-in an e-mail address has five attempts of its own. Two of them are used already.
  for (let attempt = 0; attempt < 3; attempt += 1) await app.query(signIn('wrong'));
  await signIns('limited', 'demo');
  await expectCounted('refusals_total{limit="LOGIN_LIMIT_PER_MINUTE"}', signIn('demo'), null);
  const tokens = (result: string, sent: string, document = '{ customerId }') =>
    expectCounted(`tokens_total{result="${result}"}`, document, sent);
  const fresh = app.sandbox.token({ email: 'user-7@example.com' });
  await tokens('accepted', fresh, '{ customerId session { balance } }');
  const forged = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(600) });
  await tokens('refused', forged);
  // This token names no login in the claim for it.
  await tokens('login', unsignedToken({ sub: '700001', exp: inSeconds(600) }));
  await tokens('other', 'nonsense');
  // A service with JWT_SECRET checks signatures.
  await using keyed = await startTestApp({ JWT_SECRET: 'the secret of another installation' });
  await expectRise(keyed, 'tokens_total{result="key"}', 1, () =>
    keyed.query('{ customerId }', { token: forged }),
  );
});

test('metrics show the build, and whether the process is ready', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  );
  const revision = 'unknown';
  const { series } = await scrape(app);
  const names = [...series.keys()];
  expect(names.find((name) => name.startsWith('trading_graph_build_info'))).toBe(
    `trading_graph_build_info{version="${version}",revision="${revision}",node="${process.version}"}`,
  );
  expect(series.get('trading_graph_ready')).toBe(1);
  const reasons = ['gateway', 'order-store', 'orders-held', 'clock', 'redis', 'memory', 'keys'];
  expect(names.filter((name) => name.startsWith('trading_graph_degraded'))).toEqual(
    reasons.map((reason) => `trading_graph_degraded{reason="${reason}"}`),
  );
  expect(await readinessOf(app.adminUrl)).toEqual({ status: 'ok', version, revision });
  // Details are only for operators.
  expect(await readinessOf(app.url)).toEqual({ status: 'ok' });
});
