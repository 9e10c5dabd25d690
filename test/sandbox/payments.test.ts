import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

test('withdrawal methods come as a list of lists, and a saved one is among them', async () => {
  await using place = await openSandbox({ mobileWallet: 'paywave' });
  const demo = place.as('demo@example.com');
  const before = await demo.get('/payments/client/withdrawal-methods');
  expect(before.body).toEqual([[expect.objectContaining({ crmType: 'bank', status: 'APPROVED' })]]);

  const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
  const wallet = await demo.post('/payments/client/add-crm-crypto-wallet', { address });
  const phone = await demo.post('/payments/client/add-crm-paywave', { phone: '+49 151 234567' });
  expect([wallet.body, phone.body]).toEqual([{ success: true }, { success: true }]);
  const after = await demo.get('/payments/client/withdrawal-methods');
  expect(after.body).toEqual([
    [expect.objectContaining({ crmType: 'bank' })],
    [expect.objectContaining({ crmType: 'crypto', status: 'PENDING', subtitle: 'bc1q...5mdq' })],
    [expect.objectContaining({ type: 'paywave', subtitle: '**** 67' })],
  ]);
});

test('an account that saved nothing has one empty list', async () => {
  await using place = await openSandbox();
  const answer = await place.as('fresh@example.com').get('/payments/client/withdrawal-methods');
  expect(answer.body).toEqual([[]]);
});

test.each([
  ['/payments/client/add-crm-crypto-wallet', { address: 'not a wallet' }, 422],
  ['/payments/client/add-crm-mobile-wallet', { phone: 'call me' }, 422],
  ['/user/trading-accounts/reset-password', { account_external_id: '1' }, 404],
])('%s refuses what makes no sense', async (path, body, status) => {
  await using place = await openSandbox();
  const answer = await place.as('demo@example.com').post(path, body);
  expect(answer.status).toBe(status);
  expect(answer.body).toStrictEqual({
    error: expect.any(String),
    message: expect.any(String),
    details: {},
  });
});

test('the small operations succeed', async () => {
  await using place = await openSandbox();
  const demo = place.as('demo@example.com');
  const answers = [
    await demo.post('/user/trading-accounts/reset-password', { account_external_id: '700001' }),
    await demo.put('/user/kv/a%2Fb%20%E2%82%AC', { value: null }),
    await demo.put('/user/kv/__proto__', { value: { __proto__: 1 } }),
    await demo.post('/user/notifications/v2/token', { deviceId: 'a', platform: 'ios' }),
  ];
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    answers.map(() => [200, { success: true }]),
  );
  const customer = await demo.get('/payments/client/customer-id');
  expect(customer.body).toEqual({ customerId: 'cus_700001' });
});
