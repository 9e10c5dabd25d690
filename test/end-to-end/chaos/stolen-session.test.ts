import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { closedClients } from '../live/closed-clients.ts';
import { initializedSocket, type RawSocket } from '../live/raw-socket.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';

const PROOF_SECONDS = 2;
// The last proof is at most one request older than the revocation.
const OVER_MS = PROOF_SECONDS * 1_000 + 250;
const DEMO = { email: 'demo@example.com' };
const WARM = `{
  session { balance }
  positions { id }
  catalog { size }
  placedOrder(idempotencyKey: "mine") { __typename }
}`;

const app = sharedApp({
  AUTH_PROOF_SECONDS: String(PROOF_SECONDS),
  // Cached data would be served for much longer than the token is valid.
  SESSION_MAX_AGE_SECONDS: '600',
  POSITIONS_POLL_MS: '100',
});
/** The owner's other device, which keeps everything of the account cached. */
let other: string;
/** One token per document, since the first 401 of a token ends all its access; revoked a proof's TTL ago. */
let stolen: ReadonlyMap<string, string>;
let ordersBefore: number;
const closed = closedClients();

beforeAll(async () => {
  other = await provedToken();
  const names = [...Object.keys(DOCUMENTS), 'socket'];
  stolen = new Map(
    await Promise.all(names.map(async (name) => [name, await provedToken()] as const)),
  );
});
/** Returns a token that has sent every document, so that its caches are warm. */
async function provedToken(): Promise<string> {
  const token = app.sandbox.token(DEMO);
  expect((await app.query(order('mine'), { token })).errors).toEqual([]);
  expect((await app.query(WARM, { token })).errors).toEqual([]);
  return token;
}

const order = (key: string) => buying(key, '__typename ... on OrderOutcome { replayed }');

const DOCUMENTS: Readonly<Record<string, string>> = {
  'the cached session': '{ session { balance } }',
  'the orders in it': '{ orders { id } }',
  'the newest positions': '{ positions { id } }',
  'the catalog': '{ catalog { size } }',
  'the catalog, by its version': '{ catalog { version } }',
  'an instrument': '{ instrument(id: "AAPL") { name } }',
  'a page of instruments': '{ instruments(first: 1) { totalCount } }',
  'what became of an order': '{ placedOrder(idempotencyKey: "mine") { __typename } }',
  'an order that was placed': order('mine'),
  'a new order': order('another'),
  'the payments side': '{ customerId }',
  'a small write': 'mutation { setValue(input: { key: "k" }) { __typename } }',
};

describe('a session that was stolen and revoked loses, in the time that a proof lasts,', () => {
  let socket: RawSocket;
  let etag: string;
  const GET = encodeURIComponent('{ instruments(first: 5) { nodes { id } } }');
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${app.url}/graphql?query=${GET}`, {
      headers: { authorization: `Bearer ${stolen.get('the catalog, by its version')}`, ...headers },
    });

  beforeAll(async () => {
    socket = await initializedSocket(app, stolen.get('socket'));
    socket.subscribe('before', WARM);
    expect((await socket.until('before', 'next')).payload.errors).toBeUndefined();
    etag = (await get()).headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    for (const token of stolen.values()) app.sandbox.revoke({ token });
    ordersBefore = app.sandbox.orders().length;
    const revokedAtMs = systemClock.now();
    await eventually(() => systemClock.now() - revokedAtMs > OVER_MS);
    // A recent request of the owner's other device proves nothing for the stolen tokens.
    expect((await app.query(WARM, { token: other })).errors).toEqual([]);
  });
  afterAll(() => socket[Symbol.dispose]());

  test.each(Object.entries(DOCUMENTS))('%s', async (name, document) => {
    const { data, errors } = await app.query(document, { token: stolen.get(name) ?? null });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(app.sandbox.orders()).toHaveLength(ordersBefore);
  });

  test('the catalog that its HTTP cache still has', async () => {
    const answer = await get({ 'if-none-match': etag });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ data: { instruments: null } });
  });

  test('every operation on a socket that was opened before', async () => {
    for (const [name, document] of Object.entries(DOCUMENTS)) {
      socket.subscribe(name, document);
      const { payload } = await socket.until(name, 'next');
      expect(payload.errors, name).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    }
  });

  test('the live feed, by socket and by event stream, while the other device goes on', async () => {
    const token = await provedToken();
    const clients = [
      webSocketClient(app, token),
      sseClient(app, token),
      webSocketClient(app, other),
    ];
    const [socket, stream, owner] = clients.map((client) => closed(client).watch());
    await eventually(() => [socket, stream, owner].every((each) => each?.last !== undefined));
    app.sandbox.revoke({ token });
    await eventually(() => socket?.ended !== null && stream?.ended !== null);
    expect(socket?.ended).toMatchObject({ code: 4403, reason: 'UNAUTHENTICATED' });
    expect(stream?.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    const before = owner?.events.length ?? 0;
    app.sandbox.tick();
    await eventually(() => expect(owner?.events.length ?? 0).toBeGreaterThan(before));
    expect(owner?.ended).toBeNull();
  });
});

test('a feed with a long poll interval sends a revoked token nothing past its proof', async () => {
  await using slow = await startTestApp({
    AUTH_PROOF_SECONDS: '1',
    POSITIONS_POLL_MS: '4000',
    POSITIONS_POLL_MAX_MS: '4000',
  });
  const token = slow.sandbox.token(DEMO);
  const owner = slow.sandbox.token(DEMO);
  const clients = [webSocketClient(slow, token), webSocketClient(slow, owner)];
  const [thief, own] = clients.map((client) => closed(client).watch());
  await eventually(() => thief?.last !== undefined && own?.last !== undefined);
  slow.sandbox.revoke({ token });
  const revokedAtMs = systemClock.now();
  await eventually(() => systemClock.now() - revokedAtMs > 1_250);
  const eventsBefore = thief?.events.length;
  // The owner's order leads to an immediate event, which the thief must not receive.
  const placed = await slow.query(order('news'), { token: owner });
  expect(placed.errors).toEqual([]);
  slow.sandbox.tick();
  await eventually(() => expect(own?.last?.opened).toHaveLength(1));
  expect(thief?.events.length).toBe(eventsBefore);
  await eventually(() => thief?.ended !== null);
  expect(thief?.events.length).toBe(eventsBefore);
  expect(thief?.ended).toMatchObject({ code: 4403 });
});
