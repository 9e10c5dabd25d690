import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
let token: string;

beforeAll(async () => {
  app = await startTestApp();
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());
afterAll(() => app.close());

const OUTCOME = '{ __typename }';
describe('input that is never sent', () => {
  const cases = [
    ['setValue', { key: '', value: 1 }, 'input.key'],
    ['setValue', { key: '..', value: 1 }, 'input.key'],
    ['setValue', { key: '.', value: 1 }, 'input.key'],
    ['setValue', { key: 'a/../b', value: 1 }, 'input.key'],
    ['setValue', { key: 'a\\..\\b', value: 1 }, 'input.key'],
    ['setValue', { key: 'a\u0000b', value: 1 }, 'input.key'],
    ['setValue', { key: 'a\nb', value: 1 }, 'input.key'],
    ['setValue', { key: '\ud800', value: 1 }, 'input.key'],
    ['markNotificationsRead', { ids: ['one'] }, 'input.ids'],
    ['markNotificationsRead', { ids: ['1.5'] }, 'input.ids'],
    ['markNotificationsRead', { ids: ['9007199254740993'] }, 'input.ids'],
    ['markNotificationsRead', { ids: ['-99999999999999999'] }, 'input.ids'],
    ['registerDevice', { deviceId: '' }, 'input.deviceId'],
  ] as const;

  test.each(cases)('%s %j', async (field, input, argument) => {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
    const { errors } = await app.query(
      `mutation ($input: ${type}!) { ${field}(input: $input) ${OUTCOME} }`,
      { token, variables: { input } },
    );
    expect(errors[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', retryable: false, argument });
    expect(app.sandbox.calls()).toBe(0);
  });
});

test.each([
  ['two logins', 'a: login(input: $in) { __typename } b: login(input: $in) { __typename }'],
  ['two logins behind a fragment', 'login(input: $in) { __typename } ...F'],
])('%s in one operation are refused before the first', async (_what, fields) => {
  const fragment = fields.includes('...F')
    ? 'fragment F on Mutation { again: login(input: $in) { __typename } }'
    : '';
  const { errors } = await app.query(`mutation ($in: LoginInput!) { ${fields} } ${fragment}`, {
    variables: { in: { email: 'demo@example.com', password: 'demo' } },
  });
  expect(errors[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', value: 2, maximum: 1 });
  expect(app.sandbox.calls()).toBe(0);
});

test('six writes in one operation are refused before the first, five are carried out', async () => {
  const writes = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `w${i}: setValue(input: { key: "k${i}" }) { __typename }`,
    ).join(' ');
  app.sandbox.clearCalls();
  const six = await app.query(`mutation { ${writes(6)} }`, { token });
  expect(six.errors[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', maximum: 5 });
  expect(app.sandbox.calls()).toBe(0);
  const five = await app.query(`mutation { ${writes(5)} }`, { token });
  expect(five.errors).toEqual([]);
  expect(app.sandbox.calls('setValue')).toBe(5);
});
