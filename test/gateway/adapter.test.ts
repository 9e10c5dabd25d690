import { expect, test } from 'vitest';
import { toToken } from '../../lib/token.ts';
import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import type { AdapterCall, GatewayAdapter } from '../../src/gateway/gateway-adapter.ts';
import { loginNamed } from '../support/accounts.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, type ClientSettings, marketOrder, openClient } from './open-client.ts';
import { positionRow, sessionRow } from './wire/rows.ts';

const caller = { token: toToken('e30.e30.secret-of-the-user') };

/** A gateway that answers alike whatever it is asked, behind an adapter. */
async function behind(
  adapter: GatewayAdapter,
  [status, body]: readonly [number, unknown] = [200, {}],
  settings: ClientSettings = {},
) {
  const started = new AsyncDisposableStack();
  const gateway = started.use(
    await startScriptedGateway((socket) => socket.write(answer(status, body))),
  );
  const { client } = started.use(openClient(gateway.url, { ...settings, adapter }));
  return { client, gateway, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

test('a request is what the adapter says, and secrets are what they were', async () => {
  const seen: AdapterCall[] = [];
  const adapter: GatewayAdapter = {
    request(call) {
      seen.push(structuredClone(call));
      const { authorization = '', ...others } = call.headers;
      const path = call.path.replace('/trading', '/v9');
      const body = call.body && { credentials: call.body };
      return { path, headers: { Authorization: null, 'x-was': authorization, ...others }, body };
    },
  };
  const settings = { gatewayHeaders: { 'x-key': 'a key of the operator' } };
  await using open = await behind(adapter, [200, { access_token: 'a.b.c' }], settings);
  await open.client.login(caller, 'demo@example.com', 'pass"word');
  await open.client
    .write(caller, 'registerDevice', { body: { deviceId: 'd', token: 'push me' } })
    .catch(() => {});
  await open.client.getSession(caller, loginNamed('700001')).catch(() => {});
  const [signIn, device, session] = open.gateway.requests;
  expect(JSON.parse(signIn?.body ?? '')).toEqual({
    credentials: { email: 'demo@example.com', password: 'pass"word' },
  });
  expect(JSON.parse(device?.body ?? '').credentials.token).toBe('push me');
  expect(session).toMatchObject({
    path: '/v9/session/700001',
    headers: { 'x-was': `Bearer ${caller.token.text}`, 'x-key': 'a key of the operator' },
  });
  expect(session?.headers.authorization).toBeUndefined();
  expect(seen.map(({ operation }) => operation)).toEqual(['login', 'registerDevice', 'getSession']);
  expect(seen[2]?.path).toBe('/trading/session/{login}');
  expect(JSON.stringify(seen)).not.toMatch(/secret-of|pass\\?"word|push me|the operator|700001/);
  expect(JSON.stringify(seen)).toContain('demo@example.com');
});

const sessionAt = (path: string) => ({ request: () => ({ path }) });
const headers = (given: object) => ({
  request: () => ({ headers: given as Record<string, string> }),
});

test.each<[string, GatewayAdapter]>([
  [
    'throws',
    {
      request: () => {
        throw new Error('no');
      },
    },
  ],
  ['returns nothing', { request: () => undefined as never }],
  ['returns null', { request: () => null as never }],
  ['returns a promise', { request: (() => Promise.reject(new Error('late'))) as never }],
  ['changes the verb', { request: () => ({ method: 'POST' }) as never }],
  ['gives a read a body', { request: () => ({ body: {} }) }],
  ['names another login', sessionAt('/trading/session/700002')],
  ['adds to the login', sessionAt('/trading/session/{login}0')],
  ['adds before the login', sessionAt('/trading/session/7{login}')],
  ['names the login twice', sessionAt('/{login}/{login}')],
  ['leaves the login out', sessionAt('/trading/session')],
  ['climbs', sessionAt('/a/../session/{login}')],
  ['climbs, encoded', sessionAt('/a/%2e%2e/session/{login}')],
  ['names another host', sessionAt('//other.example/session/{login}')],
  ['has a path with a fragment', sessionAt('/session/{login}#a')],
  ['drops the token', headers({ authorization: null })],
  ['replaces the token', headers({ authorization: 'Bearer mine' })],
  ['breaks a header', headers({ 'x-a': 'a\r\nb: c' })],
  ['names a header badly', headers({ 'x a': 'a' })],
  ['writes a header of the connection', headers({ 'Content-Length': '1' })],
  ['has a header that is no text', headers({ 'x-a': 1 })],
  ['has headers that are none', headers([])],
])('a request of an adapter that %s is not sent, and costs nobody else', async (_, adapter) => {
  await using open = await behind(
    {
      request: (call) => (call.operation === 'getSession' ? adapter.request?.(call) : {}) as never,
    },
    [200, { positions: [] }],
  );
  const error = await open.client
    .getSession(caller, loginNamed('700001'))
    .catch((thrown) => thrown);
  expect(error).toMatchObject({
    kind: 'contract',
    wasSent: false,
    cause: { name: 'AdapterError' },
  });
  expect(error.cause.message).toMatch(/^acme: request: /);
  expect((await open.client.getOpenPositions(caller, null)).positions).toEqual([]);
  expect(open.gateway.requests.map(({ path }) => path)).toEqual(['/trading/positions']);
});

test('an order whose request fails is not sent', async () => {
  await using open = await behind({
    request: () => {
      throw new Error('no');
    },
  });
  const exchange = await open.client.openPosition(caller, marketOrder);
  expect(exchange).toMatchObject({ sent: false });
  expect(() => judgeOrder('openPosition', exchange)).toThrow('never sent');
  expect(open.gateway.requests).toEqual([]);
});

const answered = (value: unknown) => ({ answer: () => value });

test.each<[string, GatewayAdapter]>([
  [
    'throws',
    {
      answer: () => {
        throw new Error('no');
      },
    },
  ],
  ['returns nothing', answered(undefined)],
  ['returns a promise', { answer: () => Promise.reject(new Error('late')) }],
  ['returns a function', answered(() => 1)],
  ['returns what JSON does not carry', answered({ success: 1n })],
  ['returns more than is accepted', answered('x'.repeat(2_000))],
  ['makes a refusal of a failure', answered({ status: 400, body: {} })],
  ['makes a success of a failure', answered({ status: 200, body: { success: true } })],
  ['has a status that is none', answered({ status: 99, body: {} })],
])(
  'an answer that an adapter %s leaves an order unknown, and a read without',
  async (_, adapter) => {
    const failure = [500, { error: 'down' }] as const;
    await using open = await behind(adapter, failure, { gatewayMaxBytes: 1_000 });
    const exchange = await open.client.openPosition(caller, marketOrder);
    expect(judgeOrder('openPosition', exchange)).toMatchObject({ kind: 'unknown' });
    const read = open.client.getOpenPositions(caller, null);
    await expect(read).rejects.toMatchObject({ kind: 'contract', cause: { name: 'AdapterError' } });
  },
);

test.each([
  [200, 401, 'unauthenticated'],
  [200, 429, 'rate-limited'],
  [200, 503, 'unavailable'],
  [403, 401, 'unauthenticated'],
  [404, 503, 'unavailable'],
  [503, 401, 'unauthenticated'],
  [401, 403, 'contract'],
  [401, 503, 'contract'],
  [403, 400, 'contract'],
  [403, 200, 'contract'],
  [302, 400, 'contract'],
])('a status %i that becomes %i is %s', async (given, status, kind) => {
  const adapter = answered({ status, body: { error: 'x' } });
  await using open = await behind(adapter, [given, { positions: [] }]);
  const read = open.client.getOpenPositions(caller, null);
  await expect(read).rejects.toMatchObject({ kind, ...(kind !== 'contract' && { status }) });
});

test('an answer may be another, with its long numbers, and without its tokens', async () => {
  const seen: unknown[] = [];
  const adapter: GatewayAdapter = {
    answer(_operation, body) {
      seen.push(structuredClone(JSON.stringify(body)));
      return (body as { data: unknown }).data;
    },
  };
  const token = { access_token: 'short', refresh_token: `${'long'.repeat(10)}`, passkey: true };
  await using granting = await behind(adapter, [200, { data: token }]);
  expect(await granting.client.login(anyCaller, 'a@b.c', 'p')).toMatchObject({
    grant: { accessToken: token.access_token, refreshToken: token.refresh_token },
  });
  expect(seen.join()).not.toMatch(/short|longlong/);
  const order = '{"data":{"success":true,"orderId":9007199254740993}}';
  await using accepting = await behind(adapter, [200, order]);
  const exchange = await accepting.client.openPosition(caller, marketOrder);
  expect(judgeOrder('openPosition', exchange)).toMatchObject({
    kind: 'accepted',
    orderId: '9007199254740993',
  });
  await using listing = await behind(adapter, [200, { data: { positions: [positionRow] } }]);
  const first = await listing.client.getOpenPositions(caller, null);
  expect(first.positions).toMatchObject([{ id: positionRow.id }]);
  expect((await listing.client.getOpenPositions(caller, first)).positions).toBe(first.positions);
  await using owning = await behind(adapter, [200, { data: sessionRow }]);
  expect((await owning.client.getSession(caller, loginNamed('700001'))).session.balance).toBe(
    50_000.5,
  );
});

test('what is no JSON is judged as it came', async () => {
  await using open = await behind({ answer: () => ({ positions: [] }) }, [200, '<html>']);
  const read = open.client.getOpenPositions(caller, null);
  await expect(read).rejects.toMatchObject({ kind: 'contract', cause: undefined });
});
