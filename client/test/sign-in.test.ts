import { expect, test } from 'vitest';
import { fakeClient } from '../src/testing.ts';

test.each([
  ['700001', { status: 'accepted' }],
  ['700002', { status: 'unsent', error: { code: 'SIGNED_OUT' } }],
])('an order that waits for its token when %s signs in is %o', async (login, outcome) => {
  const slow = Promise.withResolvers<void>();
  let isSlow = false;
  const { client, market } = fakeClient({
    client: {
      token: async (options) => {
        if (isSlow) await slow.promise;
        return market.token(options);
      },
    },
  });
  await client.query('{ news }', undefined, { account: 'nobody' });
  isSlow = true;
  const ticket = client.orders.ticket();
  const placing = ticket.place({ symbol: 'AAPL', side: 'BUY', size: { units: 1 } });
  expect(ticket.account).toBe('700001');
  await market.signIn(login);
  const changed = client.tokenChanged();
  slow.resolve();
  await changed;
  await market.pass(0);
  if (market.order !== null) await market.accept();
  expect(await placing).toMatchObject(outcome);
  expect(ticket.account).toBe(outcome.status === 'accepted' ? login : null);
});

test('an order of the account whose token the app gives without a word is placed for it', async () => {
  const { client, market } = fakeClient();
  await client.query('{ news }', undefined, { account: 'nobody' });
  await market.signIn('700002');
  await client.query('{ news }', undefined, { account: 'nobody' });
  const placing = client.orders.ticket().place({ symbol: 'AAPL', side: 'BUY', size: { units: 1 } });
  await market.accept();
  expect((await placing).status).toBe('accepted');
});
