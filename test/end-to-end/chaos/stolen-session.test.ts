import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket, type RawSocket } from '../live/raw-socket.ts';

const PROOF_SECONDS = 2;
// This long after the revocation every proof has expired.
const EXPIRY_MS = PROOF_SECONDS * 1_000 + 250;
const DEMO = { email: 'demo@example.com' };
/** A query whose reads are all cached afterwards. */
const SCREEN = `{
  session { balance }
  positions { id }
  catalog { size }
  placedOrder(idempotencyKey: "mine") { __typename }
}`;

const app = sharedApp({
  AUTH_PROOF_SECONDS: String(PROOF_SECONDS),
  // Cached data would be served for much longer than the token is valid.
  SESSION_MAX_AGE_SECONDS: '600',
});
/** A token of the owner's other device, which keeps the account's data cached. */
let otherDevice: string;
/** One token per document, because the first 401 of a token ends all its access. All tokens are revoked before the tests. */
let stolen: ReadonlyMap<string, string>;
let ordersBefore: number;

beforeAll(async () => {
  otherDevice = await provedToken();
  const names = [...Object.keys(DOCUMENTS), 'socket'];
  const entries = names.map(async (name) => [name, await provedToken()] as const);
  stolen = new Map(await Promise.all(entries));
});

/** Returns a token that the gateway has accepted, and whose reads are cached. */
async function provedToken(): Promise<string> {
  const token = app.sandbox.token(DEMO);
  expect((await app.query(order('mine'), { token })).errors).toEqual([]);
  expect((await app.query(SCREEN, { token })).errors).toEqual([]);
  return token;
}

const order = (key: string) => buying(key, '__typename ... on OrderOutcome { replayed }');

const DOCUMENTS: Readonly<Record<string, string>> = {
  'the cached session': '{ session { balance } }',
  'the orders of the session': '{ orders { id } }',
  'the newest positions': '{ positions { id } }',
  'the catalog': '{ catalog { size } }',
  'the catalog, by its version': '{ catalog { version } }',
  'an instrument': '{ instrument(id: "AAPL") { name } }',
  'a page of instruments': '{ instruments(first: 1) { totalCount } }',
  'the outcome of an order': '{ placedOrder(idempotencyKey: "mine") { __typename } }',
  'an order that was placed': order('mine'),
  'a new order': order('another'),
  'payment data': '{ customerId }',
  'a small write': 'mutation { setValue(input: { key: "k" }) { __typename } }',
};

describe('after its revocation a stolen session loses within AUTH_PROOF_SECONDS', () => {
  let socket: RawSocket;

  beforeAll(async () => {
    socket = await initializedSocket(app, stolen.get('socket'));
    socket.subscribe('before', SCREEN);
    expect((await socket.until('before', 'next')).payload.errors).toBeUndefined();
    for (const token of stolen.values()) app.sandbox.revoke({ token });
    ordersBefore = app.sandbox.orders().length;
    const revokedAtMs = systemClock.now();
    await eventually(() => systemClock.now() - revokedAtMs > EXPIRY_MS);
    // A recent request of the owner's other device proves nothing for the stolen tokens.
    expect((await app.query(SCREEN, { token: otherDevice })).errors).toEqual([]);
  });
  afterAll(() => socket[Symbol.dispose]());

  test.each(Object.entries(DOCUMENTS))('%s', async (name, document) => {
    const { data, errors } = await app.query(document, { token: stolen.get(name) ?? null });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
    expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(app.sandbox.orders()).toHaveLength(ordersBefore);
  });

  test('every operation on a socket that was already open', async () => {
    for (const [name, document] of Object.entries(DOCUMENTS)) {
      socket.subscribe(name, document);
      const { payload } = await socket.until(name, 'next');
      expect(payload.errors, name).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    }
  });
});
