import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { unsignedToken, withClaims } from '../../support/tokens.ts';
import { codesOf } from '../limits/every-transport.ts';
import { closedClients } from '../live/closed-clients.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { CHANGES, sseClient, type Watcher, webSocketClient } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';
import type { AlertRow } from './live-graph.ts';
import type { Reply } from './side-service.ts';
import { useExtension } from './use-extension.ts';

const { sandbox, service, facade, query, tokenOf } = useExtension('live-graph.ts', (url) => ({
  SIDE_URL: url,
  ORDER_STORE: 'memory',
  EXTENSION_TIMEOUT_MS: '2000',
  POSITIONS_POLL_MS: '100',
  POSITIONS_POLL_MAX_MS: '200',
  RATE_LIMIT_PER_MINUTE: '1000000',
  COST_LIMIT_PER_MINUTE: '100000000',
}));
const opened = closedClients();

const ALERTS = `subscription ($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  alertsChanges(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot status asOf upserted { id symbol price } closed
  }
}`;
const DEMO = '700001';

/** The rows by account; what is no list of rows is answered as it is. */
let rows: Record<string, readonly AlertRow[]> = {};
let reply: (login: string, path: string) => Reply | Promise<Reply> = () => ({
  status: 500,
  body: {},
});

const alert = (id: string, price = 1): AlertRow => ({ id, symbol: `S.${id}`, price });
const listOf = (body: unknown): Reply => ({ status: 200, body: { alerts: body } });
const polls = (path: string) => service.received.filter((one) => one.path.startsWith(path));

beforeEach(() => {
  rows = { [DEMO]: [alert('a'), alert('b')] };
  reply = (login) => listOf(rows[login] ?? []);
  service.answer = ({ method, headers, path }) =>
    method === 'POST' ? { status: 200, body: {} } : reply(String(headers['x-login']), path);
});

const byWebSocket = (token: string) => opened(webSocketClient(facade, token));
const byEvents = (token: string) => opened(sseClient(facade, token));
const has = ({ list }: Watcher, wanted: readonly AlertRow[]) =>
  JSON.stringify(list) === JSON.stringify(wanted);
const follows = async (watcher: Watcher, login = DEMO) =>
  eventually(() => watcher.last?.status === 'LIVE' && has(watcher, rows[login] ?? []));

test('a list of an account is followed over WebSocket and as an event stream, by one poll an interval, and as a query', async () => {
  const token = tokenOf();
  const watchers = [byWebSocket(token), byWebSocket(tokenOf()), byEvents(tokenOf())].map((client) =>
    client.watch({}, ALERTS),
  );
  for (const watcher of watchers) await follows(watcher);
  expect(watchers.map(({ events }) => events[0]?.snapshot)).toEqual([true, true, true]);
  rows[DEMO] = [alert('a', 2), alert('c')];
  for (const watcher of watchers) await follows(watcher);
  for (const { events } of watchers) {
    expect(events.at(-1)).toMatchObject({ snapshot: false, closed: ['b'] });
    expect(events.at(-1)?.upserted).toEqual([alert('a', 2), alert('c')]);
  }
  const { data } = await query('{ alerts { id price } }', { token });
  expect(data.alerts).toEqual([
    { id: 'a', price: 2 },
    { id: 'c', price: 1 },
  ]);
  expect(await seriesValue(facade, 'feeds{list="alerts"}')).toBe(1);
  expect(await seriesValue(facade, 'subscriptions{list="alerts"}')).toBe(3);
  const asPolls = 'gateway_calls_total{operation="alerts.list",origin="poll",outcome="ok"}';
  expect(await seriesValue(facade, asPolls)).toBeGreaterThan(0);
  for (const { headers } of polls('/alerts')) expect(headers['x-login']).toBe(DEMO);
});

test('a list of one account is shown to no other, and a forged token reads nothing, not even whether the list runs', async () => {
  const own = byWebSocket(tokenOf()).watch({}, ALERTS);
  const other = byEvents(tokenOf('pro@example.com')).watch({}, ALERTS);
  await follows(own);
  await eventually(() => other.last !== undefined);
  expect(other.list).toEqual([]);
  const before = sandbox.calls('getSession');
  for (const forged of [
    withClaims(tokenOf('fresh@example.com'), { login: Number(DEMO) }),
    unsignedToken({ login: Number(DEMO), group: 'standard-usd' }),
  ]) {
    using raw = await initializedSocket(facade, forged);
    raw.subscribe('a', ALERTS, { after: own.last?.cursor });
    expect(await raw.close()).toEqual({ code: 4403, reason: 'UNAUTHENTICATED' });
    expect(raw.of('a')).toEqual([]);
    const stream = byEvents(forged).watch({}, ALERTS);
    await eventually(() => stream.ended !== null);
    expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
    expect(stream.events).toEqual([]);
  }
  expect(sandbox.calls('getSession')).toBeGreaterThan(before);
  const logins = new Set(polls('/alerts').map(({ headers }) => headers['x-login']));
  expect(logins.size).toBe(2);
  // A cursor of another account is one that nobody knows.
  const { cursor = null } = own.last ?? {};
  const resumed = byWebSocket(tokenOf('pro@example.com')).watch({ after: cursor }, ALERTS);
  await eventually(() => resumed.last !== undefined);
  expect(resumed.events[0]).toMatchObject({ snapshot: true, upserted: [] });
});

test('a list of an account is read for no forged token, and for none, though its backend asks for no account', async () => {
  reply = () => listOf([alert('a')]);
  const forged = withClaims(tokenOf('fresh@example.com'), { login: Number(DEMO) });
  for (const options of [{}, { token: forged }]) {
    const { data, errors } = await query('{ notices { id } }', options);
    expect(data).toEqual({ notices: null });
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  }
  expect(polls('/quotes')).toEqual([]);
  const { data } = await query('{ notices { id } }', { token: tokenOf() });
  expect(data).toEqual({ notices: [{ id: 'a' }] });
});

test('a token that the gateway refuses ends its own subscriptions alone', async () => {
  const tokens = [tokenOf(), tokenOf()] as const;
  const [socket, stream, other] = [
    byWebSocket(tokens[0]).watch({}, ALERTS),
    byEvents(tokens[0]).watch({}, ALERTS),
    byWebSocket(tokens[1]).watch({}, ALERTS),
  ];
  for (const watcher of [socket, stream, other]) await follows(watcher);
  sandbox.revoke({ token: tokens[0] });
  // The gateway is asked by any other call: then the proof is gone.
  await query('{ session(maxAge: 0) { id } }', { token: tokens[0] });
  await eventually(() => socket.ended !== null && stream.ended !== null);
  expect(socket.ended).toMatchObject({ code: 4403, reason: 'UNAUTHENTICATED' });
  expect(codesOf(stream)).toEqual(['UNAUTHENTICATED']);
  rows[DEMO] = [alert('z')];
  await follows(other);
  expect(other.ended).toBeNull();
});

const BAD_READS: readonly (readonly [what: string, reply: Reply | Promise<Reply>])[] = [
  ['fails', { status: 500, body: {} }],
  ['never answers', new Promise<Reply>(() => {})],
  ['breaks off', 'cut'],
  ['is a page', { status: 200, body: undefined }],
  ['is refused', { status: 401, body: {} }],
  ['is forbidden', { status: 403, body: {} }],
  ['is no list', listOf({})],
  ['has rows that are no objects', listOf([1])],
  ['has a row that is null', listOf([null])],
  ['has one key twice', listOf([alert('a'), alert('a', 2)])],
  ['has a key that is no text', listOf([{ ...alert('a'), id: 7 }])],
  ['has a row without its key', listOf([{}])],
  ['has 10,001 rows', listOf(Array.from({ length: 10_001 }, (_, at) => alert(`r${at}`)))],
];

test.each(BAD_READS)(
  'a read that %s delays the list, which stands as of its last confirmation, and nothing else',
  async (_what, bad) => {
    const watcher = byWebSocket(tokenOf()).watch({}, ALERTS);
    const positions = byWebSocket(tokenOf()).watch({}, CHANGES);
    await follows(watcher);
    await eventually(() => positions.last?.status === 'LIVE');
    reply = () => bad;
    await eventually(() => watcher.last?.status === 'DELAYED');
    const why = /"list":"alerts","operation":"alerts.list","status":500,.*"msg":"a poll failed"/;
    await eventually(() => facade.logged.some((line) => why.test(line)));
    expect(watcher.list).toEqual([alert('a'), alert('b')]);
    const { asOf } = watcher.last ?? {};
    const resumed = byEvents(tokenOf()).watch({ after: watcher.last?.cursor ?? null }, ALERTS);
    await eventually(() => resumed.last !== undefined);
    expect(resumed.events[0]).toMatchObject({ snapshot: false, status: 'DELAYED', asOf });
    expect(positions.last?.status).toBe('LIVE');
    rows[DEMO] = [alert('b', 5)];
    reply = (login) => listOf(rows[login] ?? []);
    for (const each of [watcher, resumed]) {
      await follows(each);
      expect(each.ended).toBeNull();
    }
  },
);

test('each way in which a list fails is logged, though it failed in another within the minute', async () => {
  const token = tokenOf();
  reply = () => listOf([]);
  using socket = await initializedSocket(facade, token);
  await socket.watch('notices', 'subscription { noticesChanges { status } }');
  for (const [bad, why] of [
    [listOf({}), 'must return a list, not an object'],
    [listOf([1]), 'a row of the live list notices must be an object, not 1'],
    [{ status: 500, body: {} }, 'quotes.list: status 500'],
    [{ status: 403, body: {} }, 'quotes.list: status 403 for our own credentials'],
  ] as const) {
    reply = () => bad;
    const isTold = (line: string) => line.includes('"list":"notices"') && line.includes(why);
    await eventually(() => facade.logged.some(isTold));
  }
});

test('a list that is never read ends its subscriptions with the error of the call', async () => {
  for (const [bad, code] of [
    [{ status: 500, body: {} }, 'GATEWAY_UNAVAILABLE'],
    [{ status: 423, body: {} }, 'LISTS_CLOSED'],
    [listOf(7), 'INTERNAL'],
    [new Promise<Reply>(() => {}), 'GATEWAY_TIMEOUT'],
  ] as const) {
    reply = () => bad;
    const token = tokenOf('fresh@example.com');
    const stream = byEvents(token).watch({}, ALERTS);
    using raw = await initializedSocket(facade, token);
    raw.subscribe('a', ALERTS);
    expect(codesOf((await raw.until('a', 'next')).payload)).toEqual([code]);
    await raw.until('a', 'complete');
    await eventually(() => stream.ended !== null);
    expect(codesOf(stream)).toEqual([code]);
    expect(raw.closed).toBeNull();
  }
  // The fault has one line for all whose subscriptions it ends.
  const told = (text: string) =>
    facade.logged.filter((line) => line.includes(text)).map((line) => JSON.parse(line));
  const isOurs = expect.objectContaining({ extension: 'live-graph' });
  const faults = () => told('must return a list, not 7').filter(({ requestId }) => requestId);
  await eventually(() => faults().length > 0);
  expect(faults()).toEqual([isOurs]);
  for (const line of told('a poll failed with an unexpected')) expect(line).toEqual(isOurs);
});

test('what an event could not tell, since a row lacks what is never null, is told by the next', async () => {
  const showing = (...prices: readonly unknown[]) => {
    reply = () => listOf(prices.map((price, at) => ({ id: `${at}`, price })));
  };
  showing(1, null);
  using socket = await initializedSocket(facade);
  socket.subscribe('strict', 'subscription { strictChanges { snapshot upserted { id price } } }');
  const last = () => socket.of('strict').at(-1)?.payload.data;
  await eventually(() => expect(last()).toBeNull());
  const fault = /"extension":"live-graph".*Cannot return null for non-nullable field Strict.price/;
  await eventually(() => facade.logged.some((line) => fault.test(line)));
  showing(1, 2);
  const upserted = (...prices: readonly number[]) =>
    prices.map((price, at) => ({ id: `${at}`, price }));
  await eventually(() =>
    expect(last()).toEqual({ strictChanges: { snapshot: true, upserted: upserted(1, 2) } }),
  );
  showing(3, null);
  await eventually(() => expect(last()).toBeNull());
  showing(3, 4);
  await eventually(() =>
    expect(last()).toEqual({ strictChanges: { snapshot: false, upserted: upserted(3, 4) } }),
  );
  // It is not tried again until something changes.
  expect(socket.of('strict').length).toBeLessThan(20);
});

test('a list of 10,000 rows is sent whole, and one changed row alone', async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => alert(`r${String(at).padStart(5, '0')}`));
  rows[DEMO] = many;
  const watcher = byWebSocket(tokenOf()).watch({}, ALERTS);
  await follows(watcher);
  rows[DEMO] = [alert('r00000', 2), ...many.slice(1)];
  await follows(watcher);
  expect(watcher.events.at(-1)?.upserted).toEqual([alert('r00000', 2)]);
});

test('a backend that refuses a user’s own token delays the list, and signs nobody out', async () => {
  const document = ALERTS.replace('alertsChanges', 'mineChanges');
  const answering = (own: Reply) => (login: string, path: string) =>
    path === '/mine' ? own : listOf(rows[login] ?? []);
  reply = answering(listOf([alert('m')]));
  const watcher = byWebSocket(tokenOf()).watch({}, document);
  await eventually(() => expect(watcher.list).toEqual([alert('m')]));
  for (const status of [401, 403]) {
    reply = answering({ status, body: { message: 'who?' } });
    await eventually(() => expect(watcher.last?.status).toBe('DELAYED'));
    reply = answering(listOf([alert('m')]));
    await eventually(() => expect(watcher.last?.status).toBe('LIVE'));
  }
  expect(watcher.ended).toBeNull();
});

test('fields that read nothing are in events, on types of the extension and of the contract; others are refused by their names', async () => {
  const token = tokenOf();
  using socket = await initializedSocket(facade, token);
  rows[DEMO] = [alert('n')];
  socket.subscribe('own', 'subscription { alertsChanges { upserted { id label(suffix: "!") } } }');
  await eventually(() =>
    expect(socket.of('own').at(-1)?.payload.data.alertsChanges).toEqual({
      upserted: [{ id: 'n', label: 'S.n at 1!' }],
    }),
  );
  socket.subscribe(
    'contract',
    'subscription { positionChanges { upserted { symbol units size } } }',
  );
  const { payload } = await socket.until('contract', 'next');
  const { upserted } = payload.data.positionChanges;
  expect(upserted.length).toBeGreaterThan(0);
  for (const { symbol, units, size } of upserted) expect(size).toBe(`${units} of ${symbol}`);
  socket.subscribe('moving', 'subscription { positionChanges { ticks { profit doubled } } }');
  await eventually(() => {
    sandbox.tick();
    const moved = socket.of('moving').flatMap((event) => event.payload.data.positionChanges.ticks);
    expect(moved.length).toBeGreaterThan(0);
    for (const { profit, doubled } of moved) expect(doubled).toBe(2 * profit);
  });
  for (const [name, document] of [
    ['instrument', 'subscription { alertsChanges { upserted { instrument { id } } } }'],
    ['alerts', 'subscription { positionChanges { upserted { alerts { id } } } }'],
    ['guests', 'subscription { alertsChanges { guests } }'],
  ]) {
    socket.subscribe(`${name}`, `${document}`);
    const [error] = (await socket.until(`${name}`, 'error')).payload;
    expect(error).toMatchObject({
      message: `A subscription cannot have "${name}": ask for it in a query, or let its author mark it as computed() if it reads nothing.`,
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  }
  rows[DEMO] = [{ ...alert('n'), tags: ['own'] }];
  const { data, errors } = await query(
    '{ alerts { id changed failing later label instrument { id } } }',
    { token },
  );
  // A row answers others too: code cannot change what it holds, however deep.
  expect(data.alerts[0]).toMatchObject({ changed: false, failing: null, later: null });
  expect(data.alerts[0].label).toBe('S.n at 1');
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(Array(2).fill('INTERNAL'));
  await eventually(() => {
    const lines = facade.logged.join('');
    expect(lines).toContain('a computed() field reads nothing');
    expect(lines).toContain('Alert.later is computed: it must have its value at once');
  });
});

test('a list that stays as it is has been confirmed by the last poll, not by the first', async () => {
  using socket = await initializedSocket(facade, tokenOf());
  socket.subscribe('quiet', 'subscription { alertsChanges { status asOf } }');
  const first = (await socket.until('quiet', 'next')).payload.data.alertsChanges;
  const before = polls('/alerts').length;
  await eventually(() => polls('/alerts').length > before + 3);
  reply = () => ({ status: 500, body: {} });
  await eventually(() =>
    expect(socket.of('quiet').at(-1)?.payload.data.alertsChanges.status).toBe('DELAYED'),
  );
  const last = socket.of('quiet').at(-1)?.payload.data.alertsChanges;
  expect(Date.parse(last.asOf)).toBeGreaterThan(Date.parse(first.asOf));
});

test('a row has changed where a property came, went, or holds something else, and not where it is equal', async () => {
  const [a, b] = [alert('a'), alert('b')];
  const watcher = byWebSocket(tokenOf()).watch({}, ALERTS);
  const told = async (...next: readonly AlertRow[]) => {
    const before = watcher.events.length;
    rows[DEMO] = next;
    const ids = () => watcher.events.slice(before).flatMap(({ upserted }) => upserted);
    await eventually(() => ids().length > 0);
    return ids().map(({ id }) => id);
  };
  await follows(watcher);
  expect(await told({ ...a, tags: ['x'] }, b)).toEqual(['a']);
  expect(await told({ ...a, tags: ['x'] }, alert('b', 2))).toEqual(['b']);
  expect(await told({ ...a, tags: ['y'] }, alert('b', 2))).toEqual(['a']);
  expect(await told(a, alert('b', 2))).toEqual(['a']);
});

test('rows of which only a moving property has changed come apart where that is selected', async () => {
  using socket = await initializedSocket(facade, tokenOf());
  const select = 'subscription { alertsChanges { snapshot upserted { id } ticks { id price } } }';
  socket.subscribe('ticks', select);
  await socket.until('ticks', 'next');
  // Events without changes may follow each of them.
  const events = () => socket.of('ticks').map(({ payload }) => payload.data.alertsChanges);
  expect(events()[0]).toMatchObject({ snapshot: true, ticks: [] });
  const all = (kind: 'ticks' | 'upserted') => events().flatMap((event) => event[kind]);
  // The first one may be the list as it was followed last.
  await eventually(() => expect(all('upserted')).toContainEqual({ id: 'b' }));
  rows[DEMO] = [alert('a', 3), alert('b')];
  await eventually(() => expect(all('ticks')).toContainEqual({ id: 'a', price: 3 }));
  const before = events().length;
  rows[DEMO] = [{ ...alert('a', 4), symbol: 'other' }, alert('b', 4)];
  await eventually(() => expect(all('ticks')).toContainEqual({ id: 'b', price: 4 }));
  const later = events().slice(before);
  expect(later.flatMap(({ upserted }) => upserted)).toEqual([{ id: 'a' }]);
  expect(all('ticks')).not.toContainEqual({ id: 'a', price: 4 });
});

const QUOTES = (symbol: string) => `subscription ($after: String) {
  quoteChanges(symbol: "${symbol}", after: $after) {
    cursor snapshot status asOf upserted { id symbol price } closed
  }
}`;

test('a list of everybody is one for each set of arguments, read for nobody, and followed without a token', async () => {
  reply = (_login, path) =>
    listOf([alert(new URLSearchParams(path.split('?')[1]).get('symbol') ?? '')]);
  const anonymous = await initializedSocket(facade);
  anonymous.subscribe('a', QUOTES('AAPL'));
  const { payload } = await anonymous.until('a', 'next');
  expect(payload.data.quoteChanges.upserted).toEqual([alert('AAPL')]);
  const watchers = [tokenOf(), tokenOf('pro@example.com')].map((token) =>
    byWebSocket(token).watch({}, QUOTES('AAPL')),
  );
  const other = byEvents(tokenOf()).watch({}, QUOTES('EURUSD'));
  await eventually(() => expect(other.list).toEqual([alert('EURUSD')]));
  for (const watcher of watchers) {
    await eventually(() => expect(watcher.list).toEqual([alert('AAPL')]));
  }
  expect(await seriesValue(facade, 'feeds{list="quotes"}')).toBe(2);
  expect(await seriesValue(facade, 'subscriptions{list="quotes"}')).toBe(4);
  for (const { headers } of polls('/quotes')) {
    expect(headers).not.toHaveProperty('authorization');
    expect(headers['x-login']).toBeUndefined();
  }
  anonymous.socket.terminate();
  // What reads the viewer fails, whoever follows.
  const personal = byEvents(tokenOf()).watch(
    {},
    'subscription { personalChanges { cursor snapshot upserted { id } closed } }',
  );
  await eventually(() => expect(codesOf(personal)).toEqual(['INTERNAL']));
  expect(personal.events).toEqual([]);
});

test('a read that changes its arguments reads the same list again, and a date of its rows is a moment', async () => {
  using socket = await initializedSocket(facade);
  socket.subscribe('growing', 'subscription { growingChanges { upserted { id at } } }');
  await socket.until('growing', 'next');
  const rows = [{ id: '0', at: '1970-01-01T00:00:00.000Z' }];
  const before = polls('/quotes').length;
  await eventually(() => polls('/quotes').length > before + 3);
  const events = socket.of('growing').map(({ payload }) => payload.data.growingChanges);
  expect(events.flatMap(({ upserted }) => upserted)).toEqual(rows);
  expect((await query('{ growing { id at } }')).data).toEqual({ growing: rows });
});

test('lists of everybody that one client has opened leave room for others, and for those that are there', async () => {
  const MAX_OF_A_CLIENT = 50;
  reply = (_login, path) =>
    listOf([alert(new URLSearchParams(path.split('?')[1]).get('symbol') ?? '')]);
  using greedy = await initializedSocket(facade);
  const ids = Array.from({ length: MAX_OF_A_CLIENT + 5 }, (_, n) => `S${n}`);
  // All at once: none of them has its list yet.
  for (const id of ids) greedy.subscribe(id, QUOTES(id));
  const payloads = () => ids.map((id) => greedy.of(id)[0]?.payload).filter(Boolean);
  await eventually(() => payloads().length === ids.length, greedy.whileOpen);
  const refusals = payloads().flatMap(({ errors = [] }) => errors);
  // Lists of the tests before may still be there.
  expect(refusals.length).toBeGreaterThanOrEqual(ids.length - MAX_OF_A_CLIENT);
  expect(refusals.length).toBeLessThan(MAX_OF_A_CLIENT / 2);
  for (const { extensions } of refusals) {
    expect(extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 10 });
  }
  greedy.subscribe('again', QUOTES('S0'));
  await greedy.until('again', 'next');
  const token = tokenOf();
  await query('{ session { id } }', { token });
  const account = byWebSocket(token).watch({}, QUOTES('another'));
  await eventually(() => expect(account.list).toEqual([alert('another')]));
});

test('a write polls the lists that it refreshes at once, those of its account and of everybody', async () => {
  const token = tokenOf();
  const watchers = ['seldomChanges', 'publicSeldomChanges'].map((name) =>
    byWebSocket(token).watch({}, ALERTS.replace('alertsChanges', name)),
  );
  for (const watcher of watchers) await eventually(() => expect(watcher.last).toBeDefined());
  for (const given of ['written', 'perhaps']) {
    rows[DEMO] = [alert(given)];
    reply = () => listOf(rows[DEMO]);
    // The outcome of the second one is unknown.
    const { answer } = service;
    if (given === 'perhaps')
      service.answer = (one) => (one.method === 'POST' ? 'reset' : answer(one));
    await query('mutation { add }', { token });
    for (const watcher of watchers) {
      await eventually(() => expect(watcher.list).toEqual([alert(given)]));
    }
  }
});
