import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { inSeconds, signedToken, unsignedToken } from '../../support/tokens.ts';

const SECRET = 'thirty-two bytes of secret, or more';
const BOTH = '{ session { login } catalog { group } }';

function demo(app: TestApp): string {
  return app.sandbox.token({ email: 'demo@example.com' });
}

describe('proof', () => {
  test('comes with a call that the document makes anyway', async () => {
    await using app = await startTestApp();
    await app.query('{ catalog { group } }', { token: demo(app) });
    app.sandbox.clearCalls();
    const token = demo(app);
    await app.query(BOTH, { token });
    expect(app.sandbox.callCounts().operations).toEqual({ getSession: 1 });
    await app.query('{ catalog { group } instrument(id: "AAPL") { id } }', { token });
    expect(app.sandbox.callCounts().operations).toEqual({ getSession: 1 });
  });

  test('is paid for with one call where the document makes none', async () => {
    await using app = await startTestApp();
    await app.query('{ catalog { group } }', { token: demo(app) });
    app.sandbox.clearCalls();
    const token = demo(app);
    await app.query('{ catalog { group } instrument(id: "AAPL") { id } }', { token });
    await app.query('{ instrument(id: "AAPL") { id } }', { token });
    expect(app.sandbox.calls()).toBe(1);
  });

  test('ends after its TTL, and with it what is cached for the token', async () => {
    await using app = await startTestApp({ AUTH_PROOF_SECONDS: '1' });
    const token = demo(app);
    const document = '{ catalog { group } session { login } }';
    await app.query(document, { token });
    app.sandbox.revoke({ token });
    await eventually(async () => {
      const { data } = await app.query(document, { token });
      expect(data).toEqual({ catalog: null, session: null });
    });
  });

  test('ends immediately with a 401 of any operation, a write’s too', async () => {
    await using app = await startTestApp();
    for (const operation of ['getCustomerId', 'setValue', 'getOpenPositions'] as const) {
      const token = demo(app);
      await app.query(BOTH, { token });
      app.sandbox.fail({ operation, kind: 'revoke', times: 1 });
      await app.query(
        operation === 'setValue'
          ? 'mutation { setValue(input: { key: "k" }) { __typename } }'
          : '{ customerId positions { id } }',
        { token },
      );
      const { data } = await app.query(BOTH, { token });
      expect(data, operation).toEqual({ session: null, catalog: null });
    }
  });

  test('is not needed for a token that a configured key verifies, until a 401', async () => {
    await using app = await startTestApp({ JWT_SECRET: SECRET });
    await app.query('{ catalog { group } }', { token: demo(app) });
    app.sandbox.clearCalls();
    const token = demo(app);
    const { data } = await app.query('{ catalog { group } }', { token });
    expect(data).toEqual({ catalog: { group: 'standard-usd' } });
    expect(app.sandbox.calls()).toBe(0);
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'revoke', times: 1 });
    await app.query('{ customerId }', { token });
    expect((await app.query('{ catalog { group } }', { token })).data).toEqual({ catalog: null });
  });

  test('is not even requested for a token that a configured key refuses', async () => {
    await using app = await startTestApp({ JWT_SECRET: SECRET });
    const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
    for (const token of [unsignedToken(claims), signedToken({ claims, secret: 'another' })]) {
      const { data, errors } = await app.query(BOTH, { token });
      expect(data).toEqual({ session: null, catalog: null });
      expect(errors[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED', retryable: false });
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  describe('is left to the gateway, and opens nothing,', () => {
    const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(3_600) };
    const token = signedToken({ claims, secret: 'any', header: { alg: 'RS256', kid: 'two' } });

    test('while a key set is down', async () => {
      await using app = await startTestApp({ JWT_JWKS_URL: 'http://127.0.0.1:2/keys' });
      const { data, errors } = await app.query(BOTH, { token });
      expect(data).toEqual({ session: null, catalog: null });
      // The gateway was called, and it is the one that refuses.
      expect(errors.map(({ extensions }) => extensions.operation)).toContain('getSession');
      const told = app.logged.filter((line) => line.includes('the key set cannot be fetched'));
      expect(told).toHaveLength(1);
      expect(told[0]).toContain('ECONNREFUSED');
    });

    test('where the key set lacks its key', async () => {
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' }];
      await using issuer = await startScriptedGateway((socket) => {
        socket.write(answer(200, { keys }));
      });
      await using app = await startTestApp({ JWT_JWKS_URL: issuer.url });
      const { data, errors } = await app.query(BOTH, { token });
      expect(data).toEqual({ session: null, catalog: null });
      expect(errors.map(({ extensions }) => extensions.operation)).toContain('getSession');
      expect(issuer.requests).toHaveLength(1);
    });
  });
});
