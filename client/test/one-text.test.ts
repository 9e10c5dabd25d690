import { afterEach, expect, test, vi } from 'vitest';
import { fakeClient } from '../src/testing.ts';
import { buying } from './support/phone.ts';

afterEach(() => vi.unstubAllGlobals());

test.each<[string, RegExp, Partial<{ reach: 'portal' | 'gone'; isOnline: boolean; page: string }>]>(
  [
    ['a wrong path', /is https:\/\/fake\.example\/graphql its endpoint/, { reach: 'portal' }],
    ['a device that is offline', /^This device is offline\.$/, { reach: 'gone', isOnline: false }],
    [
      'a page of another origin',
      /pages of https:\/\/app\.example/,
      { reach: 'gone', page: 'https://app.example' },
    ],
    ['a server that is away', /^The server cannot be reached\.$/, { reach: 'gone' }],
  ],
)('%s gives a query, an order and a list the same error', async (_, text, { page, ...network }) => {
  if (page !== undefined) vi.stubGlobal('location', { origin: page, href: `${page}/` });
  const { client, market } = fakeClient({ positions: [{ id: '1' }] });
  Object.assign(market.network, network);
  const asking = client.query('{ a }', undefined, { timeoutMs: 1_000 });
  const placing = client.orders.ticket().place(buying('one text'));
  client.positions(() => {});
  await market.pass(10);
  const [query] = (await asking).errors;
  const order = await placing;
  const texts = [query, 'error' in order ? order.error : null, client.positions.state().error].map(
    (error) => (error as Error | null)?.message,
  );
  expect(texts).toEqual(Array(3).fill(expect.stringMatching(text)));
  expect(order.status).toBe('unsent');
  client.dispose();
});
