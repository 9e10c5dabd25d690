import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
let token: string;

beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());

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
