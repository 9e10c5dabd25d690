import { expect, test, vi } from 'vitest';
import { postQuery } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { compose, startNotes, startRouter } from '../../support/supergraph.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';

// npm installs eight hundred packages.
vi.setConfig({ hookTimeout: 600_000 });

const DEMO = { email: 'demo@example.com' };
const PRO = { email: 'pro@example.com' };
const LIVE = `subscription {
  positions(intervalMs: 100) { id symbol profit priceCurrent instrument { name note } }
}`;

const app = sharedApp({ FEDERATION: 'on', POSITIONS_POLL_MS: '100', TRUSTED_PROXIES: '127.0.0.1' });
const notes = startedOnce(() => startNotes({ AAPL: 'Hold' }));
const router = startedOnce(async () => startRouter((await composed()).supergraphSdl));

async function composed() {
  const { data } = await app.query('{ _service { sdl } }');
  return compose([
    { name: 'trading', url: `${app.url}/graphql`, sdl: data._service.sdl },
    { name: 'notes', url: `${notes.url}/graphql`, sdl: notes.sdl },
  ]);
}

const ask = (document: string, token: string | null) =>
  postQuery(`${router.url}/graphql`, document, { token });

/** The lines of the requests and subscriptions by which the service was asked since then. */
const askedSince = (before: number) =>
  app.logged
    .slice(before)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'request' || msg === 'subscription started');
const transportsSince = (before: number) => askedSince(before).map(({ transport }) => transport);

test('the service is composed with one of another team, without an error or a hint', async () => {
  const { hints, supergraphSdl } = await composed();
  expect(hints).toEqual([]);
  expect(supergraphSdl).toMatch(/^type Instrument\n {2}@join__type\(graph: NOTES, key: "id"\)/m);
});

test('a query goes from here to another service, for its user, whose token the other one never sees', async () => {
  const query =
    '{ instrument(id: "AAPL") { name note } positions { id instrument { id name note } } }';
  const [demo, pro] = await Promise.all(
    [DEMO, PRO].map(async (account) => {
      const token = app.sandbox.token(account);
      const { data: own } = await app.query('{ positions { id instrument { id name } } }', {
        token,
      });
      const before = notes.received.length;
      const { data, errors } = await ask(query, token);
      expect(errors).toEqual([]);
      expect(data.instrument).toEqual({ name: 'Apple Inc.', note: 'Hold' });
      expect(data.positions).toMatchObject(own.positions);
      expect(notes.received.length).toBeGreaterThan(before);
      return data.positions;
    }),
  );
  expect(demo[0].instrument).toEqual({ id: 'AAPL', name: 'Apple Inc.', note: 'Hold' });
  expect(demo[0].id).not.toBe(pro[0].id);
  expect(notes.received.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});

test('a query goes from another service to here, and by one request', async () => {
  const before = app.logged.length;
  const token = app.sandbox.token(DEMO);
  const { data, errors } = await ask('{ noted { id note name leverage } }', token);
  expect(errors).toEqual([]);
  expect(data).toEqual({ noted: [{ id: 'AAPL', note: 'Hold', name: 'Apple Inc.', leverage: 5 }] });
  expect(transportsSince(before)).toEqual(['http']);
});

test('where nobody is signed in our fields are UNAUTHENTICATED, and the other service’s are there', async () => {
  const query = '{ positions { id } noted { id note } completed: noted { note name } }';
  const { data, errors } = await ask(query, null);
  const noted = [{ id: 'AAPL', note: 'Hold' }];
  // A name is never null.
  expect(data).toEqual({ positions: null, noted, completed: [null] });
  const codes = errors.map(({ path, extensions: { code } }) => [path?.[0], code]);
  expect(codes.sort()).toEqual([
    ['completed', 'UNAUTHENTICATED'],
    ['positions', 'UNAUTHENTICATED'],
  ]);
});

test('an error of ours reaches the app whole, by which it knows what became of its order', async () => {
  const headers = { 'retry-after': '7' };
  app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429, headers, times: 1 });
  const { data, errors } = await ask(buying('routed', '__typename'), app.sandbox.token(DEMO));
  expect(data).toEqual({ placeOrder: null });
  const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfter: 7 };
  expect(errors).toMatchObject([
    { path: ['placeOrder'], extensions: { ...extensions, operation: 'openPosition' } },
  ]);
});

test.each([
  ['an event stream', sseClient],
  ['a WebSocket', webSocketClient],
])(
  '%s of a client is an event stream here, whose events the other service completes, and ends with its token',
  async (_by, open) => {
    const before = app.logged.length;
    const token = app.sandbox.token(DEMO);
    await using client = open(router, token);
    const watcher = client.watch({}, LIVE);
    await eventually(() => expect(watcher.list).toHaveLength(6), watcher.whileOpen);
    expect(watcher.list[0]).toMatchObject({ instrument: { name: 'Apple Inc.', note: 'Hold' } });
    const price = 230 + before;
    app.sandbox.putPrice('AAPL', price);
    await eventually(() => expect(watcher.list[0]?.priceCurrent).toBe(price), watcher.whileOpen);
    expect(transportsSince(before)).toEqual(['sse']);
    app.sandbox.revoke({ token });
    await eventually(() => expect(watcher.ended).toBe('complete'));
    expect(watcher.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  },
);
