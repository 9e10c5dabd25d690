import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { listenLocally } from '../../support/local-server.ts';
import { openSocket, type RawSocket } from '../live/raw-socket.ts';

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
    const { method, url: path = '', headers } = from;
    const tenant = headers['x-tenant'];
    seen.push({ tenant, path, headers });
    const sandbox = tenants[tenant as keyof typeof tenants];
    if (sandbox === undefined) {
      from.resume();
      to.writeHead(401).end();
      return;
    }
    const onward = request(`${sandbox.url}${path}`, { method, headers, agent: false });
    void pipeline(from, onward).catch(() => {});
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    await pipeline(answer, to).catch(() => {});
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

  test('has live feeds of its own, by the headers of connectionParams', async () => {
    const sockets = { a: await follow('a'), b: await follow('b') };
    const heard = (socket: RawSocket) =>
      socket.of('1').some(({ payload }) => JSON.stringify(payload).includes('heard by a'));
    await place('a', 'live', 'heard by a');
    await eventually(() => heard(sockets.a));
    // The other's next event comes after it.
    await place('b', 'live', 'heard by b');
    await eventually(() => JSON.stringify(sockets.b.of('1')).includes('heard by b'));
    expect(heard(sockets.b)).toBe(false);
    for (const socket of Object.values(sockets)) socket[Symbol.dispose]();
  });
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

async function follow(tenant: string): Promise<RawSocket> {
  const socket = await openSocket(app);
  const payload = { authorization: `Bearer ${token}`, headers: { 'X-Tenant': tenant } };
  socket.say({ type: 'connection_init', payload });
  socket.subscribe('1', 'subscription { positionChanges { upserted { id comment } } }');
  await socket.until('1', 'next');
  return socket;
}
