import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { listenLocally } from '../../support/local-server.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { startSideService } from '../extensions/side-service.ts';
import { openSocket, type RawSocket } from '../live/raw-socket.ts';
import { justNow } from '../orders/order-client.ts';

const DEMO = { email: 'demo@example.com' };
const SECRET = 'a secret of all tenants, which is long enough for it';
const ACCOUNT = '{ session { balance } positions { id comment } orders { id } }';
const ORDER =
  'mutation ($key: String!, $comment: String) { placeOrder(input: { symbol: "EURUSD", side: BUY, size: { units: 1000 }, comment: $comment, idempotencyKey: $key }) { __typename ... on OrderOutcome { replayed } } }';

/** A gateway of two tenants, by a header: the same users and tokens, and books of their own. */
async function openTenants() {
  const tenants = {
    a: await startSandbox({ seed: 'a', secret: SECRET, tickMs: 0 }),
    b: await startSandbox({ seed: 'b', secret: SECRET, tickMs: 0 }),
  };
  const seen: { tenant: unknown; path: string; headers: IncomingMessage['headers'] }[] = [];
  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '', headers } = from;
    const tenant = headers['x-tenant'];
    seen.push({ tenant, path, headers });
    const body = await buffer(from);
    if (tenant !== 'a' && tenant !== 'b') return void to.writeHead(401).end();
    const answer = await rawRequest(tenants[tenant].url + path, { method, headers, body });
    to.writeHead(answer.status, answer.headers).end(answer.bytes);
  }
  const server = await listenLocally(createServer((from, to) => void pass(from, to)));
  return {
    ...tenants,
    seen,
    gateway: { ...tenants.a, url: server.url } as Sandbox,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await Promise.all([tenants.a.close(), tenants.b.close()]);
    },
  };
}

const tenants = await openTenants();
const app = await startTestApp(
  { GATEWAY_FORWARD_HEADERS: 'X-Brand, X-Tenant', CORS_ORIGINS: 'https://app.example.com' },
  { gateway: tenants.gateway },
);
afterAll(async () => {
  await app.close();
  await tenants[Symbol.asyncDispose]();
});

// Of both tenants: only what is sent beside it says of which.
const token = tenants.a.token(DEMO);
const by = (tenant: string | null) => ({
  token,
  headers: tenant === null ? {} : { 'x-tenant': tenant },
});
const ask = (tenant: string | null, query = ACCOUNT) => app.query(query, by(tenant));
const place = (tenant: string, key: string, comment: string) =>
  app.query(ORDER, { ...by(tenant), variables: { key, comment } });

describe('the headers of GATEWAY_FORWARD_HEADERS', () => {
  test('go to the gateway with each call, the sign-in too, and no others', async () => {
    tenants.seen.length = 0;
    const login =
      'mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { customerId session { balance } } } }';
    const headers = { 'x-tenant': 'b', 'x-brand': 'blue', 'x-other': 'no' };
    const { errors } = await app.query(login, { headers });
    expect(errors).toEqual([]);
    expect(tenants.seen).toHaveLength(3);
    for (const { headers: sent } of tenants.seen) {
      expect(sent).toMatchObject({ 'x-tenant': 'b', 'x-brand': 'blue' });
      expect(sent).not.toHaveProperty('x-other');
    }
  });

  test('are named to caches on the way, and allowed to pages', async () => {
    const { headers } = await ask('a');
    expect(headers.get('vary')).toMatch(/Authorization.*, x-brand, x-tenant$/);
    const preflight = await fetch(`${app.url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/x-brand, x-tenant/);
  });
});

describe('what one tenant has', () => {
  test('is shown to nobody of another, though login and token are the same', async () => {
    await place('b', 'of b alone', 'of b');
    for (let round = 0; round < 3; round += 1) {
      const [ofA, ofB, ofNobody] = [await ask('a'), await ask('b'), await ask(null)];
      expect(comments(ofB.data)).toContain('of b');
      expect(comments(ofA.data)).not.toContain('of b');
      expect(ofA.data.session).not.toBeNull();
      expect(ofNobody.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    }
  });

  test('has a catalog and stored answers of its own', async () => {
    tenants.b.changeCatalog({ add: 7 });
    const size = async (tenant: string) =>
      (await ask(tenant, '{ instruments(first: 1) { totalCount } }')).data.instruments.totalCount;
    const ofA = await size('a');
    for (let round = 0; round < 3; round += 1) {
      expect(await size('b')).toBe(ofA + 7);
      expect(await size('a')).toBe(ofA);
    }
  });

  test('has keys of orders of its own', async () => {
    const first = [await place('a', 'a key', 'x'), await place('b', 'a key', 'x')];
    expect(first.map(({ data }) => data.placeOrder.replayed)).toEqual([false, false]);
    const other = await place('b', 'a key', 'another');
    expect(other.errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
    const again = await place('a', 'a key', 'x');
    expect(again.data.placeOrder.replayed).toBe(true);
    const named = (sandbox: Sandbox) =>
      sandbox.orders().filter((order) => JSON.stringify(order).includes('"x"'));
    expect(named(tenants.a)).toHaveLength(1);
    expect(named(tenants.b)).toHaveLength(1);
  });

  test('has ETags of its own, which no other’s catalog confirms', async () => {
    const get = (tenant: string, etag = '') =>
      fetch(`${app.url}/graphql?query={instruments(first:1){nodes{id}}}`, {
        headers: { ...by(tenant).headers, authorization: `Bearer ${token}`, 'if-none-match': etag },
      });
    const { headers } = await get('a');
    const etag = headers.get('etag') as string;
    expect(headers.get('cache-control')).toMatch(/^private,/);
    const statuses = ['a', 'b', 'c'].map(async (tenant) => (await get(tenant, etag)).status);
    expect(await Promise.all(statuses)).toEqual([304, 200, 200]);
    expect((await (await get('c', etag)).json()).data.instruments).toBeNull();
  });

  test('has cursors of its own', async () => {
    using first = await follow('a');
    const { cursor } = (await first.until('1', 'next')).payload.data.positionChanges;
    for (const tenant of ['a', 'b']) {
      using socket = await follow(tenant, cursor);
      const { snapshot } = (await socket.until('1', 'next')).payload.data.positionChanges;
      expect(snapshot).toBe(tenant === 'b');
    }
  });

  test('has live feeds of its own, by the headers of connectionParams', async () => {
    using ofA = await follow('a');
    using ofB = await follow('b');
    const heard = (socket: RawSocket) =>
      socket.of('1').some(({ payload }) => JSON.stringify(payload).includes('heard by a'));
    await place('a', 'live', 'heard by a');
    await eventually(() => heard(ofA));
    // The other's next event comes after it.
    await place('b', 'live', 'heard by b');
    await eventually(() => JSON.stringify(ofB.of('1')).includes('heard by b'));
    expect(heard(ofB)).toBe(false);
  });
});

describe('an order of one tenant', () => {
  const outcome = '{ __typename ... on OrderRejected { sent } }';
  const placed = async (tenant: string) =>
    (await ask(tenant, `{ placedOrder(idempotencyKey: "asked for") ${outcome} }`)).data.placedOrder;
  const voided = async (tenant: string, since: Date) => {
    const args = `idempotencyKey: "asked for", since: "${since.toISOString()}"`;
    return (await ask(tenant, `mutation { voidOrder(${args}) ${outcome} }`)).data.voidOrder;
  };

  test('is not found in another, and its key is closed there alone', async () => {
    const since = justNow();
    await place('a', 'asked for', 'x');
    expect(await placed('b')).toBeNull();
    expect(await voided('b', since)).toEqual({ __typename: 'OrderRejected', sent: false });
    expect(await placed('a')).toEqual({ __typename: 'OrderAccepted' });
    expect(await voided('a', since)).toEqual({ __typename: 'OrderAccepted' });
  });
});

test('a connection that a proxy keeps alive is of no tenant', async () => {
  await place('b', 'kept alive', 'kept alive');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const tenant of ['b', 'a', 'b', 'a', null]) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = tenant === null ? headers : { ...headers, 'x-tenant': tenant };
    const body = JSON.stringify({ query: ACCOUNT });
    const post = { method: 'POST', agent, headers: sent, body };
    const { text } = await rawRequest(`${app.url}/graphql`, post);
    expect(text.includes('kept alive')).toBe(tenant === 'b');
    expect(text.includes('UNAUTHENTICATED')).toBe(tenant === null);
  }
  agent.destroy();
});

describe('a header that goes on', () => {
  test('may come once only, so that nobody takes another of two', async () => {
    const headers = { authorization: `Bearer ${token}`, 'x-tenant': ['a', 'b'] };
    tenants.seen.length = 0;
    const { status } = await rawRequest(`${app.url}/graphql?query={customerId}`, { headers });
    expect(status).toBe(400);
    await expect(openSocket(app, undefined, { headers: headers as never })).rejects.toThrow('400');
    expect(tenants.seen).toEqual([]);
  });

  test('goes on as it is written, in whatever characters, and without the spaces around it', async () => {
    for (const value of ['a, b', 'caf\u00e9', 'c'.repeat(8_000), '__proto__', 'constructor']) {
      tenants.seen.length = 0;
      const { errors } = await app.query(ACCOUNT, { token, headers: { 'x-tenant': value } });
      expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
      expect(new Set(tenants.seen.map(({ tenant }) => tenant))).toEqual(new Set([value]));
    }
    await place('b', 'spaces', 'x');
    using socket = await openSocket(app);
    init(socket, { 'X-Tenant': ' b\t' });
    socket.subscribe('1', '{ placedOrder(idempotencyKey: "spaces") { __typename } }');
    const { payload } = await socket.until('1', 'next');
    expect(payload.data.placedOrder).toEqual({ __typename: 'OrderAccepted' });
  });

  test('is that of the upgrade where it has one, as a proxy sets it', async () => {
    await place('b', 'upgrade', 'by the upgrade');
    for (const headers of [{}, { 'X-Tenant': 'a' }]) {
      using socket = await openSocket(app, undefined, { headers: { 'x-tenant': 'b' } });
      init(socket, headers);
      socket.subscribe('1', ACCOUNT);
      expect(JSON.stringify(await socket.until('1', 'next'))).toContain('by the upgrade');
    }
  });

  const many = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`x-${at}`, 'x']));
  test.each<[string, object]>([
    ['is no text', { 'x-tenant': 7 }],
    ['has other characters', { 'x-tenant': '\u0431' }],
    ['is long', { 'x-tenant': 'a'.repeat(2_000) }],
    ['comes behind too many', { ...many, 'x-tenant': 'a' }],
    ['comes twice', { 'x-tenant': 'a', 'X-Tenant': 'b' }],
  ])('ends a socket where it %s, and is not left out', async (_, headers) => {
    const socket = await openSocket(app);
    init(socket, headers);
    expect(await socket.close()).toMatchObject({ code: 4400 });
  });

  test('may have the name of a property that every object has', async () => {
    await using odd = await startTestApp(
      { GATEWAY_FORWARD_HEADERS: 'constructor' },
      { gateway: tenants.gateway },
    );
    const sent = async (headers: Record<string, string>) => {
      tenants.seen.length = 0;
      await odd.query(ACCOUNT, { token, headers });
      return tenants.seen.map(
        (one) => Object.hasOwn(one.headers, 'constructor') && one.headers.constructor,
      );
    };
    expect(new Set(await sent({}))).toEqual(new Set([false]));
    expect(new Set(await sent({ constructor: 'x' }))).toEqual(new Set(['x']));
  });
});

test('a cookie whose token one tenant refuses stays for the others', async () => {
  await using cookies = await startTestApp(
    { GATEWAY_FORWARD_HEADERS: 'x-tenant', AUTH_COOKIE: 'session' },
    { gateway: tenants.gateway },
  );
  for (const tenant of ['a', 'c']) {
    const headers = { cookie: `session=${token}`, 'x-tenant': tenant };
    const answer = await cookies.query('{ customerId }', { headers });
    expect(answer.errors).toHaveLength(tenant === 'a' ? 0 : 1);
    expect(answer.headers.get('set-cookie')).toBeNull();
  }
});

test('a backend of an extension is told of which tenant the login is', async () => {
  await using service = await startSideService();
  service.answer = ({ headers }) => ({ status: 200, body: String(headers['x-tenant']) });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: tenants.gateway.url,
    GATEWAY_FORWARD_HEADERS: 'x-tenant',
    EXTENSIONS: join(import.meta.dirname, '../extensions/side-graph.ts'),
    SIDE_URL: service.url,
  });
  const { data } = await facade.query('{ mine ofLogin tenant item(id: "a") }', by('b'));
  expect(data).toEqual({ mine: 'b', ofLogin: 'b', tenant: 'b', item: 'undefined' });
});

test('a signature that is valid proves the login of no tenant: the gateway is asked', async () => {
  await using signed = await startTestApp(
    { GATEWAY_FORWARD_HEADERS: 'x-tenant', JWT_SECRET: SECRET },
    { gateway: tenants.gateway },
  );
  const query = (tenant: string) => signed.query(ACCOUNT, by(tenant));
  expect((await query('a')).errors).toEqual([]);
  tenants.seen.length = 0;
  for (const tenant of ['c', 'c', '']) {
    const { errors, data } = await query(tenant);
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(data.session).toBeNull();
  }
  expect(tenants.seen.map(({ tenant }) => tenant)).toContain('c');
});

function comments(data: { positions: readonly { comment: string | null }[] }) {
  return data.positions.map(({ comment }) => comment);
}

function init(socket: RawSocket, headers: object): void {
  const payload = { authorization: `Bearer ${token}`, headers };
  socket.say({ type: 'connection_init', payload });
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
