import { beforeEach, describe, expect, test } from 'vitest';
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
  ... on LoginRejected { error message email details }
} }`;

const NO_REASON = { error: null, message: null, email: null, details: null };
const REJECTED = { __typename: 'LoginRejected', ...NO_REASON };
const UNKNOWN = { error: 'USER_NOT_FOUND', email: 'nobody@example.com' };

describe('login', () => {
  const login = async (email: string, password = 'demo') => {
    const { data, errors } = await app.query(LOGIN, { variables: { input: { email, password } } });
    expect(errors).toEqual([]);
    return data.login;
  };

  test('returns a token and the data of the start screen, even if the request has an old or invalid token', async () => {
    const screen =
      'positions { symbol instrument { name } } orders { symbol } withdrawalMethods { title } customerId';
    const otherAccount = app.sandbox.token({ email: 'pro@example.com' });
    const expired = app.sandbox.token({ login: 700002, expiresInSeconds: -3_600 });
    for (const token of [null, otherAccount, 'garbage', expired]) {
      app.sandbox.clearCalls();
      const { data, errors } = await app.query(
        `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
          ... on LoginSuccess {
            accessToken refreshToken passkey session { login } catalog { group } ${screen}
          }
        } }`,
        { token },
      );
      expect(errors).toEqual([]);
      const { login } = data;
      const calls = app.sandbox.callCounts();
      const payments = { getWithdrawalMethods: 1, getCustomerId: 1 };
      const expected = { login: 1, getSession: 1, getOpenPositions: 1, ...payments };
      expect(calls.operations).toMatchObject(expected);
      // The gateway was not called for the account of the request's token.
      expect(calls.logins).not.toHaveProperty('700002');
      expect(app.sandbox.requests('login')[0]?.headers).not.toHaveProperty('authorization');
      const later = await app.query(`{ ${screen} }`, { token: login.accessToken });
      expect(later.data.positions.length).toBeGreaterThan(0);
      expect(login).toEqual({
        accessToken: expect.stringMatching(/^eyJ/),
        refreshToken: 'refresh-700001',
        passkey: false,
        session: { login: '700001' },
        catalog: { group: 'standard-usd' },
        ...later.data,
        customerId: 'cus_700001',
      });
    }
  });

  test.each<[string, string, string, object]>([
    ['a wrong password (401)', 'demo', 'wrong', { error: 'INVALID_CREDENTIALS' }],
    ['an unknown e-mail address (404)', 'nobody', 'demo', UNKNOWN],
  ])('is rejected with the gateway’s message: %s', async (_what, name, password, reason) => {
    expect(await login(`${name}@example.com`, password)).toEqual({ ...REJECTED, ...reason });
  });
});

test.each([
  ['acknowledged for any token', 'demo@example.com', { __typename: 'Acknowledged', success: true }],
  ['rejected by 404', 'nobody@example.com', { __typename: 'Rejected', error: 'USER_NOT_FOUND' }],
  ['rejected by 400', 'no address', { __typename: 'Rejected', error: 'VALIDATION_FAILED' }],
])('forgotPassword is %s', async (_how, email, outcome) => {
  const { data, errors } = await app.query(
    `mutation ($email: String!) { forgotPassword(input: { email: $email }) ${OUTCOME} }`,
    { token: 'not even a token', variables: { email } },
  );
  expect(errors).toEqual([]);
  expect(data.forgotPassword).toMatchObject(outcome);
});
