import { beforeEach, describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();

beforeEach(() => app.sandbox.clearFaults());

const OUTCOME = `{
  __typename
  ... on Acknowledged { success }
  ... on Rejected { error message details }
}`;
const LOGIN = `mutation ($input: LoginInput!) { login(input: $input) {
  __typename
  ... on LoginSuccess { accessToken refreshToken passkey session { login } catalog { group } }
  ... on LoginRejected { error message email details }
} }`;

const NO_WORDS = { error: null, message: null, email: null, details: null };
const REJECTED = { __typename: 'LoginRejected', ...NO_WORDS };

describe('login', () => {
  const login = async (email: string, password = 'demo') => {
    const { data, errors } = await app.query(LOGIN, { variables: { input: { email, password } } });
    expect(errors).toEqual([]);
    return data.login;
  };

  test('gives a token for the next request, and reads with it in the same one', async () => {
    const granted = await login('demo@example.com');
    expect(granted).toEqual({
      __typename: 'LoginSuccess',
      accessToken: expect.stringMatching(/^eyJ/),
      refreshToken: 'refresh-700001',
      passkey: false,
      session: { login: '700001' },
      catalog: { group: 'standard-usd' },
    });
    const { data } = await app.query('{ customerId }', { token: granted.accessToken });
    expect(data).toEqual({ customerId: 'cus_700001' });
  });

  test('shows the whole start screen in the same round-trip, read with the new token', async () => {
    app.sandbox.clearCalls();
    const { data, errors } = await app.query(
      `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
        ... on LoginSuccess {
          session { login }
          catalog { group }
          positions { symbol instrument { name } }
          orders { symbol }
          withdrawalMethods { title }
          customerId
        }
      } }`,
      { token: app.sandbox.token({ email: 'pro@example.com' }) },
    );
    expect(errors).toEqual([]);
    const { login } = data;
    expect(login).toMatchObject({
      session: { login: '700001' },
      catalog: { group: 'standard-usd' },
      customerId: 'cus_700001',
    });
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const calls = app.sandbox.callCounts();
    const later = await app.query(
      '{ positions { symbol instrument { name } } orders { symbol } withdrawalMethods { title } }',
      { token },
    );
    expect(later.data.positions.length).toBeGreaterThan(0);
    expect(login).toMatchObject(later.data);
    expect(calls.logins).not.toHaveProperty('700002');
    expect(calls.operations).toMatchObject({
      login: 1,
      getSession: 1,
      getOpenPositions: 1,
      getWithdrawalMethods: 1,
      getCustomerId: 1,
    });
  });

  test.each([
    ['a wrong password (401)', 'demo@example.com', 'wrong', { error: 'INVALID_CREDENTIALS' }],
    ['a locked account (403)', 'locked@example.com', 'demo', { error: 'ACCOUNT_LOCKED' }],
    [
      'an unknown address (404)',
      'nobody@example.com',
      'demo',
      { error: 'USER_NOT_FOUND', email: 'nobody@example.com' },
    ],
    [
      'details (403)',
      'unverified@example.com',
      'demo',
      { error: 'EMAIL_NOT_VERIFIED', message: expect.any(String), details: { resend: true } },
    ],
    [
      'a 200 without a token',
      'password-expired@example.com',
      'demo',
      { error: 'PASSWORD_EXPIRED' },
    ],
  ])('is rejected in the gateway’s words: %s', async (_what, email, password, words: object) => {
    expect(await login(email, password)).toEqual({ ...REJECTED, ...words });
  });

  test('ignores the request’s own token', async () => {
    for (const odd of ['garbage', app.sandbox.token({ login: 700001, expiresInSeconds: -3600 })]) {
      app.sandbox.clearCalls();
      const { data } = await app.query(LOGIN, {
        token: odd,
        variables: { input: { email: 'pro@example.com', password: 'demo' } },
      });
      expect(data.login.session).toEqual({ login: '700002' });
      expect(app.sandbox.requests('login')[0]?.headers).not.toHaveProperty('authorization');
    }
  });

  test('with the token of an earlier one is refused for no neighbour’s guesses', async () => {
    await using own = await startTestApp({ LOGIN_LIMIT_PER_MINUTE: '2' });
    const attempt = async (password: string, token?: string) => {
      const input = { email: 'fresh@example.com', password };
      const { data, errors } = await own.query(LOGIN, {
        ...(token !== undefined && { token }),
        variables: { input },
      });
      return errors?.[0]?.extensions.code ?? data.login.__typename;
    };
    const token = await own.signIn('fresh@example.com');
    for (let n = 0; n < 4; n += 1) await attempt('wrong');
    expect(await attempt('demo')).toBe('RATE_LIMITED');
    expect(await attempt('demo', token)).toBe('LoginSuccess');
    const unknown = own.sandbox.token({ email: 'fresh@example.com', expiresInSeconds: 60 });
    expect(await attempt('demo', unknown)).toBe('RATE_LIMITED');
  });

  test('an answer without a token that names a passkey says so', async () => {
    const answering = (body: object) => {
      app.sandbox.clearFaults();
      app.sandbox.fail({ operation: 'login', kind: 'status', status: 200, body });
    };
    answering({ passkey: true });
    expect(await login('demo@example.com')).toEqual({
      ...REJECTED,
      message: 'The gateway gave no token: this account signs in with a passkey.',
      details: { passkey: true },
    });
    answering({ passkey: true, message: 'Use your key.' });
    expect(await login('demo@example.com')).toMatchObject({ message: 'Use your key.' });
    answering({ passkey: false });
    const { errors } = await app.query(LOGIN, {
      variables: { input: { email: 'demo@example.com', password: 'demo' } },
    });
    expect(errors).toMatchObject([{ extensions: { code: 'GATEWAY_CONTRACT' } }]);
  });
});

describe('forgotPassword', () => {
  const forgot = async (email: string) => {
    const { data, errors } = await app.query(
      `mutation ($email: String!) { forgotPassword(input: { email: $email }) ${OUTCOME} }`,
      { token: 'not even a token', variables: { email } },
    );
    expect(errors).toEqual([]);
    return data.forgotPassword;
  };

  test('is acknowledged with any token', async () => {
    expect(await forgot('demo@example.com')).toEqual({ __typename: 'Acknowledged', success: true });
  });

  test.each([
    ['404', 'nobody@example.com', 'USER_NOT_FOUND'],
    ['403', 'locked@example.com', 'ACCOUNT_LOCKED'],
    ['400', 'no address', 'VALIDATION_FAILED'],
  ])('a %s is a rejection', async (_status, email, error) => {
    expect(await forgot(email)).toMatchObject({ __typename: 'Rejected', error });
  });
});
