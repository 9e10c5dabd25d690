import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { listenLocally } from '../../support/local-server.ts';
import { keyOf } from '../../support/order-keys.ts';
import { readinessOf } from '../../support/readiness.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { inSeconds, signedToken, unsignedToken } from '../../support/tokens.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const DEMO = { email: 'demo@example.com' };
const PROOF_MS = 1_000;
const SECRET = 'thirty-two bytes of secret, or more';
const SESSION_AND_CATALOG = '{ session { login } catalog { group } }';
const PLACED = `placedOrder(idempotencyKey: "${keyOf('none')}") { __typename }`;

describe('a token whose proof has expired', () => {
  const app = sharedApp({
    AUTH_PROOF_SECONDS: String(PROOF_MS / 1_000),
    // A cached session expires with the proof, as it does with the default settings.
    SESSION_MAX_AGE_SECONDS: '1',
  });
  let token: string;
  beforeAll(() => {
    token = app.sandbox.token(DEMO);
  });
  beforeEach(async () => {
    const document = '{ session(maxAge: 0) { login } catalog { size } }';
    expect((await app.query(document, { token })).errors).toEqual([]);
    const answeredAtMs = systemClock.now();
    await eventually(() => systemClock.now() - answeredAtMs > PROOF_MS);
    app.sandbox.clearCalls();
  });

  test.each([
    // The catalog needs op 10 (getSession), because only op 10 names the account's current group.
    ['{ customerId catalog { size } }', { getCustomerId: 1, getSession: 1 }],
    [`{ ${PLACED} customerId }`, { getCustomerId: 1 }],
    [`{ ${PLACED} catalog { size } positions { id } }`, { getOpenPositions: 1, getSession: 1 }],
    ['{ catalog { size } session(maxAge: 0) { login } }', { getSession: 1 }],
  ])('is proved again by %s with the calls %o', async (document, calls) => {
    const { errors } = await app.query(document, { token });
    expect(errors).toEqual([]);
    expect(app.sandbox.callCounts().operations).toEqual(calls);
  });
});

const write = (field: string) => `mutation { ${field} { __typename } }`;
const _WALLET = write('addCryptoWallet(input: { address: "bc1q" })');

test.each([
  ['no account data', { body: { message: 'maintenance' } }],
  ['account data from a cache', { headers: { age: '12' }, body: { login: 700001, balance: 1 } }],
])('a 200 with %s does not prove the token', async (_what, fault) => {
  await using app = await startTestApp();
  const token = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(60) });
  app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 200, times: 1, ...fault });
  // The second answer of the gateway refuses the token, which is forged.
  for (const code of ['GATEWAY_CONTRACT', 'UNAUTHENTICATED']) {
    const { data, errors } = await app.query(`{ session { balance } ${PLACED} }`, { token });
    expect(data).toEqual({ session: null, placedOrder: null });
    expect(errors.map(({ extensions }) => extensions.code)).toContain(code);
  }
});

test('with a configured key a token is proved by its signature until a 401, and other tokens are refused without a call', async () => {
  await using app = await startTestApp({ JWT_SECRET: SECRET });
  await app.query('{ catalog { group } }', { token: app.sandbox.token(DEMO) });
  app.sandbox.clearCalls();
  const token = app.sandbox.token(DEMO);
  const { data } = await app.query('{ catalog { group } }', { token });
  expect(data).toEqual({ catalog: { group: 'standard-usd' } });
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
  for (const other of [unsignedToken(claims), signedToken({ claims, secret: 'another' })]) {
    const { data, errors } = await app.query(SESSION_AND_CATALOG, { token: other });
    expect(data).toEqual({ session: null, catalog: null });
    expect(errors[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED', retryable: false });
  }
  expect(app.sandbox.calls()).toBe(0);
  app.sandbox.revoke({ token });
  await app.query('{ customerId }', { token });
  expect((await app.query('{ catalog { group } }', { token })).data).toEqual({ catalog: null });
});

test('with a configured key a refused token closes no key, even if its first call only measures the clock', async () => {
  await using app = await startTestApp({ JWT_SECRET: SECRET });
  const [token, innocent] = [app.sandbox.token(DEMO), app.sandbox.token(DEMO)];
  app.sandbox.revoke({ token });
  const close = write(`voidOrder(idempotencyKey: "${keyOf('close')}")`);
  const { data, errors } = await app.query(close, { token });
  expect(data).toEqual({ voidOrder: null });
  expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
  const { placedOrder } = (await app.query(`{ ${PLACED} }`, { token: innocent })).data;
  expect(placedOrder).toBeNull();
});

test('an order that another token sends is shown only to tokens that are not refused meanwhile', async () => {
  await using sandbox = await startSandbox({ seed: 'tests', tickMs: 0, instruments: 40 });
  await using held = await startHeldGateway(sandbox);
  await using app = await startTestApp({ GATEWAY_URL: held.url }, { gateway: sandbox });
  const [sender, token, innocent] = [1, 2, 3].map(() => sandbox.token(DEMO)) as [
    string,
    string,
    string,
  ];
  const place = buying('shown', '__typename');
  const key = `idempotencyKey: "${keyOf('shown')}"`;
  const asking = [place, write(`voidOrder(${key})`), `{ placedOrder(${key}) { __typename } }`];
  held.hold('openPosition');
  const sent = app.query(place, { token: sender });
  await eventually(() => held.waiting === 1);
  using refused = await initializedSocket(app, token);
  using shown = await initializedSocket(app, innocent);
  for (const socket of [refused, shown]) {
    for (const [id, query] of asking.entries()) socket.subscribe(`${id}`, query);
    // Messages are handled in their order, so the others wait for the order when this one is answered.
    socket.subscribe('last', '{ customerId }');
    await socket.until('last', 'complete');
  }
  sandbox.revoke({ token });
  const { errors } = await app.query('{ customerId }', { token });
  expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
  held.release();
  expect((await sent).data.placeOrder).toEqual({ __typename: 'OrderAccepted' });
  for (const [id, field] of ['placeOrder', 'voidOrder', 'placedOrder'].entries()) {
    const { payload } = await refused.until(`${id}`, 'next');
    expect(payload.data).toEqual({ [field]: null });
    expect(payload.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    const accepted = { data: { [field]: { __typename: 'OrderAccepted' } } };
    expect((await shown.until(`${id}`, 'next')).payload).toMatchObject(accepted);
  }
  expect(sandbox.calls('openPosition')).toBe(1);
});

test('if no key set can be read, the gateway decides about tokens, and readiness says so', async () => {
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(3_600) };
  const token = signedToken({ claims, secret: 'any', header: { alg: 'RS256', kid: 'two' } });
  await using app = await startTestApp({ JWT_JWKS_URL: 'http://127.0.0.1:2/keys' });
  const { data, errors } = await app.query(SESSION_AND_CATALOG, { token });
  expect(data).toEqual({ session: null, catalog: null });
  expect(errors.map(({ extensions }) => extensions.operation)).toContain('getSession');
  expect(await readinessOf(app.adminUrl)).toMatchObject({ reasons: ['keys'] });
});

test('with a key set a forged token reaches nothing, whether its key is known or not', async () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const set = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] });
  await using keys = await listenLocally(createServer((_, response) => response.end(set)));
  await using app = await startTestApp({ JWT_JWKS_URL: `${keys.url}/keys` });
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(3_600) };
  for (const kid of ['one', 'two', 'three']) {
    const header = { alg: 'EdDSA', kid };
    const token = signedToken({ claims, secret: 'any', header });
    const { data, errors } = await app.query(SESSION_AND_CATALOG, { token });
    expect(data).toEqual({ session: null, catalog: null });
    const isKnown = kid === 'one';
    expect(errors[0]?.extensions).toEqual(
      isKnown
        ? { code: 'UNAUTHENTICATED', retryable: false }
        : { code: 'GATEWAY_UNAVAILABLE', retryable: true, retryAfter: expect.any(Number) },
    );
  }
  expect(app.sandbox.calls()).toBe(0);
  expect(await readinessOf(app.adminUrl)).toMatchObject({ status: 'ok' });
});
