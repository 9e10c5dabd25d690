import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { listenLocally } from '../../support/local-server.ts';
import { keyOf } from '../../support/order-keys.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { openSocket, type RawSocket } from '../live/raw-socket.ts';

const DEMO = { email: 'demo@example.com' };
const SECRET = 'a secret of all tenants, which is long enough for it';
const ACCOUNT = '{ session { balance } positions { id comment } orders { id } }';
const ORDER =
  'mutation ($key: String!, $comment: String) { placeOrder(input: { symbol: "EURUSD", side: BUY, kind: MARKET, size: { units: 1000 }, comment: $comment, idempotencyKey: $key }) { __typename ... on OrderOutcome { replayed } } }';

/** A gateway for two tenants. The header `x-tenant` selects one. Both have the same users and tokens, but their own orders. */
async function openTenants() {
  const tenants = {
    a: await startSandbox({ seed: 'a', secret: SECRET, tickMs: 0 }),
    b: await startSandbox({ seed: 'b', secret: SECRET, tickMs: 0 }),
  };
  const received: { tenant: unknown; path: string; headers: IncomingMessage['headers'] }[] = [];
  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '', headers } = request;
    const tenant = headers['x-tenant'];
    received.push({ tenant, path, headers });
    const body = await buffer(request);
    if (tenant !== 'a' && tenant !== 'b') return void response.writeHead(401).end();
    const answer = await rawRequest(tenants[tenant].url + path, { method, headers, body });
    response.writeHead(answer.status, answer.headers).end(answer.bytes);
  }
  const server = await listenLocally(createServer(forward));
  return {
    ...tenants,
    received,
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Promise.all([tenants.a.close(), tenants.b.close()]);
    },
  };
}

const tenants = await openTenants();
const app = await startTestApp(
  { GATEWAY_URL: tenants.url, GATEWAY_FORWARD_HEADERS: 'X-Brand, X-Tenant' },
  { gateway: tenants.a },
);
afterAll(async () => {
  await app.close();
  await tenants[Symbol.asyncDispose]();
});

// The token is valid for both tenants. Only the header selects a tenant.
const token = tenants.a.token(DEMO);
const by = (tenant: string | null) => ({
  token,
  headers: tenant === null ? {} : { 'x-tenant': tenant },
});
const ask = (tenant: string | null, query = ACCOUNT) => app.query(query, by(tenant));
const place = (tenant: string, key: string, comment: string) =>
  app.query(ORDER, { ...by(tenant), variables: { key: keyOf(key), comment } });

test('each gateway call, including the sign-in, forwards only the headers of GATEWAY_FORWARD_HEADERS', async () => {
  tenants.received.length = 0;
  const login =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { customerId session { balance } } } }';
  const sent = { 'x-tenant': 'b', 'x-brand': 'blue', 'x-other': 'no' };
  expect((await app.query(login, { headers: sent })).errors).toEqual([]);
  expect(tenants.received).toHaveLength(3);
  for (const { headers } of tenants.received) {
    expect(headers).toMatchObject({ 'x-tenant': 'b', 'x-brand': 'blue' });
    expect(headers).not.toHaveProperty('x-other');
  }
  // The Vary header tells caches that the answer depends on these headers.
  const { headers } = await ask('a');
  expect(headers.get('vary')).toMatch(/Authorization.*, x-brand, x-tenant$/);
});

test('a session that a sign-in has read is served only to requests with the same forwarded headers', async () => {
  const login =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken session { balance } } } }';
  const { data } = await app.query(login, { headers: { 'x-tenant': 'b' } });
  expect(data.login.session).not.toBeNull();
  const issued = data.login.accessToken;
  expect((await app.query('{ session { balance } }', { token: issued })).data.session).toBeNull();
});

describe('a forwarded header', () => {
  test('is refused if it is sent twice, because a proxy and the service could read different values', async () => {
    const headers = { authorization: `Bearer ${token}`, 'x-tenant': ['a', 'b'] };
    tenants.received.length = 0;
    const { status } = await rawRequest(`${app.url}/graphql?query={customerId}`, { headers });
    expect(status).toBe(400);
    await expect(openSocket(app, undefined, { headers: headers as never })).rejects.toThrow('400');
    expect(tenants.received).toEqual([]);
  });

  test('is forwarded unchanged, except that surrounding spaces are removed', async () => {
    for (const value of ['a, b', 'caf\u00e9', 'c'.repeat(8_000), '__proto__', 'constructor']) {
      tenants.received.length = 0;
      const { errors } = await app.query(ACCOUNT, { token, headers: { 'x-tenant': value } });
      expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
      expect(new Set(tenants.received.map(({ tenant }) => tenant))).toEqual(new Set([value]));
    }
    await place('b', 'spaces', 'x');
    // Without its spaces the value is `b`, whose order is found.
    using socket = await openSocket(app);
    init(socket, { 'X-Tenant': ' b\t' });
    socket.subscribe('1', `{ placedOrder(idempotencyKey: "${keyOf('spaces')}") { __typename } }`);
    const { payload } = await socket.until('1', 'next');
    expect(payload.data.placedOrder).toEqual({ __typename: 'OrderAccepted' });
  });

  test('of a socket is taken from the upgrade if it is there, because a proxy sets it there', async () => {
    await place('b', 'upgrade', 'by the upgrade');
    for (const headers of [{}, { 'X-Tenant': 'a' }]) {
      using socket = await openSocket(app, undefined, { headers: { 'x-tenant': 'b' } });
      init(socket, headers);
      socket.subscribe('1', ACCOUNT);
      expect(JSON.stringify(await socket.until('1', 'next'))).toContain('by the upgrade');
    }
  });

  test.each<[string, object]>([
    ['is not a text', { 'x-tenant': 7 }],
    ['has characters that no HTTP header can have', { 'x-tenant': '\u0431' }],
    ['is too long', { 'x-tenant': 'a'.repeat(2_000) }],
    ['is given twice', { 'x-tenant': 'a', 'X-Tenant': 'b' }],
  ])('closes a socket if it %s', async (_, headers) => {
    const socket = await openSocket(app);
    init(socket, headers);
    expect(await socket.untilClosed()).toMatchObject({ code: 4400 });
  });
});

test('with forwarded headers a valid signature does not prove a login: the tenant’s gateway is asked', async () => {
  await using signed = await startTestApp(
    { GATEWAY_URL: tenants.url, GATEWAY_FORWARD_HEADERS: 'x-tenant', JWT_SECRET: SECRET },
    { gateway: tenants.a },
  );
  const query = (tenant: string) => signed.query(ACCOUNT, by(tenant));
  expect((await query('a')).errors).toEqual([]);
  tenants.received.length = 0;
  // `c` is asked for twice, because the second answer could come from a cache.
  for (const tenant of ['c', 'c', '']) {
    const { errors, data } = await query(tenant);
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(data.session).toBeNull();
  }
  expect(tenants.received.map(({ tenant }) => tenant)).toContain('c');
});

describe('a tenant', () => {
  test('gets no data of another tenant on a kept-alive connection, even with the same login and token', async () => {
    await place('b', 'of b alone', 'of b');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const tenant of ['b', 'a', 'b', 'a', null]) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = tenant === null ? headers : { ...headers, 'x-tenant': tenant };
      const body = JSON.stringify({ query: ACCOUNT });
      const post = { method: 'POST', agent, headers: sent, body };
      const { text } = await rawRequest(`${app.url}/graphql`, post);
      expect(text.includes('of b')).toBe(tenant === 'b');
      expect(text.includes('UNAUTHENTICATED')).toBe(tenant === null);
    }
    agent.destroy();
  });

  test('has its own order keys, which other tenants cannot find, void or use up', async () => {
    const first = [await place('a', 'a key', 'once'), await place('b', 'a key', 'once')];
    expect(first.map(({ data }) => data.placeOrder.replayed)).toEqual([false, false]);
    const other = await place('b', 'a key', 'another');
    expect(other.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    const again = await place('a', 'a key', 'once');
    expect(again.data.placeOrder.replayed).toBe(true);
    const ordersOnce = (sandbox: Sandbox) =>
      sandbox.orders().filter((order) => JSON.stringify(order).includes('"once"'));
    expect(ordersOnce(tenants.a)).toHaveLength(1);
    expect(ordersOnce(tenants.b)).toHaveLength(1);

    const outcome = '{ __typename ... on OrderRejected { sent } }';
    const placed = async (tenant: string) =>
      (await ask(tenant, `{ order: placedOrder(idempotencyKey: "${keyOf('of a')}") ${outcome} }`))
        .data.order;
    const voided = async (tenant: string) => {
      const args = `idempotencyKey: "${keyOf('of a')}"`;
      return (await ask(tenant, `mutation { order: voidOrder(${args}) ${outcome} }`)).data.order;
    };
    await place('a', 'of a', 'y');
    expect(await placed('b')).toBeNull();
    expect(await voided('b')).toEqual({ __typename: 'OrderRejected', sent: false });
    expect(await placed('a')).toEqual({ __typename: 'OrderAccepted' });
    expect(await voided('a')).toEqual({ __typename: 'OrderAccepted' });
  });

  test('has its own live feeds and cursors', async () => {
    using feedA = await follow('a');
    using feedB = await follow('b');
    const shows = (socket: RawSocket, comment: string) =>
      JSON.stringify(socket.messagesOf('1')).includes(comment);
    await place('a', 'live', 'order of a');
    await eventually(() => shows(feedA, 'order of a'));
    // If the feed of `b` received the order of `a`, it would do so before the order of `b`.
    await place('b', 'live', 'order of b');
    await eventually(() => shows(feedB, 'order of b'));
    expect(shows(feedB, 'order of a')).toBe(false);
    const { cursor } = feedA.messagesOf('1').at(-1)?.payload.data.positionChanges ?? {};
    // With its own cursor `a` resumes. To `b` the cursor is unknown, so `b` gets the whole list.
    for (const tenant of ['a', 'b']) {
      using socket = await follow(tenant, cursor);
      const { snapshot } = (await socket.until('1', 'next')).payload.data.positionChanges;
      expect(snapshot).toBe(tenant === 'b');
    }
  });
});

/** Sends `connection_init` with these headers in it, because a browser can add no header to the upgrade. */
function init(socket: RawSocket, headers: object): void {
  const payload = { authorization: `Bearer ${token}`, headers };
  socket.send({ type: 'connection_init', payload });
}

async function follow(tenant: string, after: string | null = null): Promise<RawSocket> {
  const socket = await openSocket(app);
  init(socket, { 'X-Tenant': tenant });
  const query =
    'subscription ($after: String) { positionChanges(after: $after) { cursor snapshot upserted { id comment } } }';
  socket.subscribe('1', query, { after });
  await socket.until('1', 'next');
  return socket;
}
