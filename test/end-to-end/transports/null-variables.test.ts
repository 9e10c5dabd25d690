import { beforeAll, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
let token: string;

beforeAll(async () => {
  token = await app.signIn();
});

test('a null in place of a variable with a default is the client’s mistake', async () => {
  const { status, data, errors } = await app.query(
    'query ($id: ID = "AAPL") { instrument(id: $id) { id } customerId }',
    { token, variables: { id: null } },
  );
  expect(status).toBe(200);
  expect(data).toMatchObject({ instrument: null, customerId: expect.any(String) });
  expect(errors).toMatchObject([
    { path: ['instrument'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
  ]);
});

test('a condition that is null is the client’s mistake as well', async () => {
  const { errors } = await app.query(
    'query ($skip: Boolean = true) { customerId @skip(if: $skip) }',
    { token, variables: { skip: null } },
  );
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(app.logged.filter((line) => line.includes('a fault of the facade'))).toEqual([]);
});
