import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

const HOME = `{
  session { login balance equity currency }
  positions { symbol profit instrument { name leverage } }
  withdrawalMethods { title status group }
  customerId
}`;

test('one query answers a whole screen', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  const { status, data, errors } = await app.query(HOME, { token });
  expect(status).toBe(200);
  expect(errors).toEqual([]);
  expect(data.session).toMatchObject({ login: '700001', currency: 'USD' });
  expect(data.positions).toContainEqual({
    symbol: 'AAPL',
    profit: expect.any(Number),
    instrument: { name: 'Apple Inc.', leverage: 5 },
  });
  expect(data.withdrawalMethods.length).toBeGreaterThan(0);
  expect(data.customerId).toBe('cus_700001');
});
