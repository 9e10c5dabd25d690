import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';
const text = expect.any(String);
const withDetails = { error: text, message: text, details: expect.any(Object) };
const messageOnly = { message: text };
const errorAndMessage = { error: text, message: text };
const submit = { success: false, err: text, message: text };

// Operation by operation, those that take a body with a field missing; each error in the shape that the interface gives it.
test.each([
  [1, 'get', '/trading/tickers/standard-usd', withDetails, [401, 200]],
  [2, 'post', '/auth/login', withDetails, [400, 400]],
  [3, 'post', '/auth/forgot-password', withDetails, [400, 400]],
  [4, 'post', '/trading/positions', submit, [401, 400]],
  [5, 'post', '/trading/positions/limit', submit, [401, 400]],
  [6, 'post', '/user/trading-accounts/reset-password', withDetails, [401, 400]],
  [7, 'post', '/payments/client/add-crm-crypto-wallet', withDetails, [401, 400]],
  [8, 'post', '/payments/client/add-crm-mobile-wallet', withDetails, [401, 400]],
  [9, 'put', '/user/kv/theme', withDetails, [401, 400]],
  [10, 'get', '/trading/session/700001', messageOnly, [401, 200]],
  [11, 'get', '/payments/client/withdrawal-methods', withDetails, [401, 200]],
  [12, 'get', '/trading/positions', withDetails, [401, 200]],
  [13, 'get', '/payments/client/customer-id', withDetails, [401, 200]],
  [14, 'put', '/user/notifications/mark-read', errorAndMessage, [400, 400]],
  [15, 'post', '/user/notifications/v2/token', errorAndMessage, [400, 400]],
] as const)(
  'op %i refuses who has no token, and a missing field: %s %s',
  async (_op, verb, path, shape, statuses) => {
    await using place = await openSandbox();
    const answers = [];
    for (const who of [place.anonymous, place.as(DEMO)]) answers.push(await who[verb](path, {}));
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    for (const { status, body } of answers) if (status !== 200) expect(body).toStrictEqual(shape);
  },
);

test.each([
  ['get', '/nope', 404],
  ['get', '/trading/tickers/', 404],
  ['get', '/trading/tickers/a/b', 404],
  ['get', '/trading/positions/limit', 405],
  ['post', '/trading/session/700001', 405],
  ['post', '/payments/client/add-crm-other-wallet', 404],
  ['get', '/trading/tickers/%zz', 400],
  ['get', '/sandbox/nope', 404],
] as const)('%s %s is %i', async (verb, path, status) => {
  await using place = await openSandbox();
  expect((await place.as(DEMO)[verb](path)).status).toBe(status);
});
