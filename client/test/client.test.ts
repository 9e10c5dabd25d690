import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { ownApp } from '../../test/support/shared-app.ts';
import { type ClientOptions, createClient } from '../src/create-client.ts';
import type { PositionsState } from '../src/live/states.ts';
import type { TypedText } from '../src/operation.ts';
import { memoryStorage } from '../src/storage/memory.ts';
import { fakeClient } from '../src/testing.ts';
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

test('both lists are requested with the client’s heartbeat', async () => {
  const { client, market } = fakeClient({ client: { heartbeatSeconds: 30 } });
  client.positions(() => {});
  client.account(() => {});
  await market.pass(0);
  const asked = market.subscriptions.map(({ variables }) => variables.heartbeatSeconds);
  expect(asked).toEqual([30, 30]);
  client.dispose();
});

test.each([14, 61, 15.5, Number.NaN])('a heartbeat of %d s is refused', (heartbeatSeconds) => {
  expect(() => start({ heartbeatSeconds })).toThrow(RangeError);
});

test('a user signs in, follows positions, places one order by a double tap, and signs out', async () => {
  const { client, environment } = start();
  const { data } = await client.mutate(LOGIN, { email: 'demo@example.com' }, { anonymous: true });
  token = data?.login?.accessToken ?? null;
  expect(token).toBeTypeOf('string');
  let state: PositionsState = client.positions.state();
  client.positions((next) => {
    state = next;
  });
  await eventually(() => state.status === 'LIVE' && state.positions?.length === 6);
  const input = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  // A server that has just started refuses keys from before its start.
  await eventually(async () => {
    expect(await client.orders.ticket().place(input)).toMatchObject({ status: 'accepted' });
  });
  const before = app.sandbox.orders().length;
  const ticket = client.orders.ticket();
  const [first, second] = await Promise.all([ticket.place(input), ticket.place(input)]);
  expect(first).toMatchObject({ status: 'accepted' });
  expect(second).toMatchObject({ status: 'accepted' });
  expect(app.sandbox.orders()).toHaveLength(before + 1);
  // The account has the sandbox's six positions, and one for each of the two orders.
  await eventually(() => expect(state.positions).toHaveLength(8));
  token = null;
  await client.tokenChanged();
  await eventually(() => expect(state.positions).toBeNull());
  client.dispose();
  expect(environment.timers.size).toBe(0);
  expect(environment.listeners.size).toBe(0);
});

test.each([memoryStorage, './orders', null, { get: () => null }])(
  'a `storage` that is not a storage is refused at once: %s',
  (storage) => {
    expect(() => start({ storage: storage as never })).toThrow('`storage` is');
  },
);

test.each([
  { token: undefined },
  { token: 'text' },
  ...[undefined, null, '', 'example.com/graphql', 'localhost:4000/graphql'].map((url) => ({ url })),
  { environment: { fetch: undefined } },
  { environment: { lifecycle: undefined } },
  { environment: { lifecycle: { isVisible: true, onReturn: () => () => {} } } },
  { hiddenSeconds: Number.NaN },
  { hiddenSeconds: -1 },
])('an invalid option is refused at once: %o', (option) => {
  expect(() => start(option as never)).toThrow(
    /^`(?:token|url|fetch|onReturn|onHide|hiddenSeconds)` is /,
  );
});

test.each([
  ['a URL', (url: string) => new URL(url)],
  ['the address of a WebSocket', (url: string) => url.replace('http', 'ws')],
  ['a text with a line end', (url: string) => `${url}\n`],
  ['a text with a fragment', (url: string) => `${url}#app`],
])('the option `url` can be %s', async (_which, given) => {
  token = app.sandbox.token({ email: 'demo@example.com' });
  const { client } = start({ url: given(`${app.url}/graphql`) as string });
  expect((await client.query('{ session { id } }')).errors).toEqual([]);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.positions(({ status, error }) => {
    if (status === 'LIVE') resolve();
    else if (error !== null) reject(error);
  });
  await promise;
  client.dispose();
});

test.each(['Bearer %', 'bearer %', '%\n'])('a token can be returned as %j', async (written) => {
  token = written.replace('%', app.sandbox.token({ email: 'demo@example.com' }));
  const { client } = start();
  expect((await client.query('{ session { id } }')).errors).toEqual([]);
  client.positions(() => {});
  await eventually(() => client.positions.state().status === 'LIVE');
  client.dispose();
});
