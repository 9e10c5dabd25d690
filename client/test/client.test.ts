import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { startTestApp } from '../../test/support/app.ts';
import { eventually } from '../../test/support/eventually.ts';
import { ownApp } from '../../test/support/shared-app.ts';
import { type ClientOptions, createClient } from '../src/create-client.ts';
import { createCore } from '../src/create-core.ts';
import type { ERROR_CODES } from '../src/generated/error-codes.ts';
import type { PositionsState } from '../src/live/states.ts';
import type { TypedText } from '../src/operation.ts';
import { createRequests } from '../src/requests.ts';
import { memoryStorage } from '../src/storage/memory.ts';
import { countedEnvironment } from './support/counted-environment.ts';

const LOGIN: TypedText<{ login: { accessToken?: string } | null }, { email: string }> =
  'mutation ($email: String!) { login(input: { email: $email, password: "demo" }) { ... on LoginSuccess { accessToken } } }';

const app = ownApp({ POSITIONS_POLL_MS: '100' });
let token: string | null;
beforeEach(() => {
  token = null;
});

function start(options: Partial<ClientOptions> = {}) {
  const environment = countedEnvironment();
  const client = createClient({
    url: `${app.url}/graphql`,
    token: () => token,
    storage: memoryStorage(),
    environment,
    ...options,
  });
  return { client, environment };
}

test.each([15, 30, 60])('asks both lists for a heartbeat of %i s', async (heartbeatSeconds) => {
  token = app.sandbox.token({ email: 'demo@example.com' });
  const sent: unknown[] = [];
  const { client } = start({
    heartbeatSeconds,
    environment: countedEnvironment({
      WebSocket: null,
      fetch: (input, init) => {
        const { variables } = JSON.parse(String(init?.body));
        if (variables) sent.push(variables);
        return fetch(input, init);
      },
    }),
  });
  client.positions(() => {});
  client.account(() => {});
  await eventually(() => client.positions.state().status === 'LIVE');
  await eventually(() => client.account.state().status === 'LIVE');
  expect(sent).toMatchObject([{ heartbeatSeconds }, { heartbeatSeconds }]);
  client.dispose();
});

test.each([14, 61, 15.5, Number.NaN])('takes no heartbeat of %d s', (heartbeatSeconds) => {
  expect(() => start({ heartbeatSeconds })).toThrow(RangeError);
});

test('signs in, follows positions, places an order once, signs out', async () => {
  const { client, environment } = start();
  const { data } = await client.mutate(LOGIN, { email: 'demo@example.com' }, { anonymous: true });
  token = data?.login?.accessToken ?? null;
  expect(token).toBeTypeOf('string');
  let state: PositionsState = client.positions.state();
  client.positions((next) => {
    state = next;
  });
  await eventually(() => state.status === 'LIVE' && state.positions.length === 6);
  const ticket = client.orders.ticket();
  const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 } } as const;
  const [first, second] = await Promise.all([ticket.place(input), ticket.place(input)]);
  expect(first).toMatchObject({ status: 'accepted' });
  expect(second).toMatchObject({ status: 'accepted' });
  await eventually(() => state.positions.length === 7);
  token = null;
  await client.tokenChanged();
  await eventually(() => state.positions.length === 0);
  client.dispose();
  expect(environment.timers.size).toBe(0);
  expect(environment.listeners.size).toBe(0);
});

test('sends trusted documents by their id, queries by GET', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'trusted-'));
  const file = join(folder.path, 'manifest.json');
  writeFileSync(
    file,
    JSON.stringify({
      home: 'query ($s: String) { instruments(filter: { search: $s }, first: 1) { nodes { id } } }',
    }),
  );
  await using strict = await startTestApp({
    PERSISTED_DOCUMENTS: file,
    PERSISTED_DOCUMENTS_ONLY: 'on',
  });
  token = strict.sandbox.token({ email: 'demo@example.com' });
  const methods: unknown[] = [];
  const { client } = start({
    url: `${strict.url}/graphql`,
    environment: {
      fetch: (input, init) => {
        methods.push(init?.method ?? 'GET');
        return fetch(input, init);
      },
    },
  });
  const answer = await client.query({ documentId: 'home' }, { s: 'AAPL' });
  expect(answer).toEqual({ data: { instruments: { nodes: [{ id: 'AAPL' }] } }, errors: [] });
  expect(methods).toEqual(['GET']);
  const refused = await client.query('{ session { balance } }');
  const [error] = refused.errors;
  expect(error?.code).toBe('PERSISTED_DOCUMENT_REQUIRED' satisfies keyof typeof ERROR_CODES);
  client.dispose();
});

test('names the account that is signed in, and says when it is another one or none', async () => {
  const forced = new Set<boolean>();
  const { client } = start({
    token({ force }) {
      forced.add(force);
      return token;
    },
  });
  const changes: (string | null)[] = [];
  const stop = client.onAccountChange((login) => changes.push(login));
  expect(client.login).toBeNull();
  token = await app.signIn('demo@example.com');
  const ticket = client.orders.ticket();
  expect(ticket.account).toBeNull();
  await ticket.place({ symbol: 'AAPL', side: 'BUY', size: { units: 1 } });
  expect([client.login, ticket.account]).toEqual(['700001', '700001']);
  token = await app.signIn('pro@example.com');
  await client.tokenChanged();
  await eventually(() => client.login === '700002');
  token = null;
  await client.tokenChanged();
  expect(client.login).toBeNull();
  expect(changes).toEqual(['700002', null]);
  stop();
  token = await app.signIn('demo@example.com');
  await client.tokenChanged();
  await eventually(() => client.login === '700001');
  expect(changes).toHaveLength(2);
  // No token was refused, so that none had to be renewed.
  expect([...forced]).toEqual([false]);
  client.dispose();
});

test.each([memoryStorage, './orders', null, { get: () => null }])(
  'a storage that is none is refused at once: %s',
  (storage) => {
    expect(() => start({ storage: storage as never })).toThrow(TypeError);
  },
);

test('a client for requests alone signs in, renews its token, and leaves nothing behind', async () => {
  const environment = countedEnvironment();
  const given = [app.sandbox.token({ email: 'demo@example.com' })];
  const client = createRequests({
    url: `${app.url}/graphql`,
    environment,
    token({ force }) {
      if (force)
        given.push(app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 300 }));
      return given.at(-1) ?? null;
    },
  });
  app.sandbox.revoke({ token: given[0] ?? '' });
  const { data, errors } = await client.query('{ session { login } }');
  expect([data, errors]).toEqual([{ session: { login: '700001' } }, []]);
  expect(given).toHaveLength(2);
  client.dispose();
  expect([environment.timers.size, environment.listeners.size]).toEqual([0, 0]);
});

test('a core that is disposed ends what hangs on it, once, whatever of that throws', async () => {
  const thrown: unknown[] = [];
  const ended: string[] = [];
  const core = createCore({
    url: 'http://127.0.0.1:9/graphql',
    token: () => null,
    storage: null,
    onSignedOut: () => {},
    route: false,
    environment: countedEnvironment({ thrown, hurry: () => 0 }),
  });
  const broken = new Error('of the first one');
  core.onDispose(() => {
    throw broken;
  });
  core.onDispose(() => {
    ended.push('second');
    // As a part does that begins nothing any more.
    ended.push(String(core.isDisposed));
  });
  expect(core.isDisposed).toBe(false);
  core.dispose();
  core.dispose();
  expect(ended).toEqual(['second', 'true']);
  await eventually(() => expect(thrown).toEqual([broken]));
  core.onDispose(() => ended.push('late'));
  expect(ended.at(-1)).toBe('late');
});
