import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { fakeClient } from '../../src/testing.ts';
import { buying, startPhone, undatedFetch, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('orders that never left the device are unsent at the next start, even if the server’s time was unknown', async () => {
  const withoutPings: typeof fetch = (input, init) =>
    String(init?.body).includes('"{__typename}"')
      ? new Promise(() => {})
      : undatedFetch(input, init);
  const { orders, sent } = phone.open({}, { fetch: withoutPings });
  for (const name of ['one', 'two', 'three'])
    void orders.ticket({ maxWaitMs: 60_000 }).place(buying(name));
  await eventually(() => expect(phone.storage.entries.size).toBe(3));
  const outcomes = (await phone.open().orders.resume()).map(({ outcome }) => outcome);
  expect(outcomes).toMatchObject(Array(3).fill(unsent('VOIDED')));
  expect(sent).toEqual([]);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('no order is sent, even over a WebSocket, before an answer has given the server’s time', async () => {
  const { orders, sent, core } = phone.open({}, { fetch: undatedFetch });
  const outcome = await orders.ticket({ maxWaitMs: 3_000 }).place(buying('undated'));
  expect(outcome).toMatchObject(unsent('NETWORK', { message: expect.stringContaining('`Date`') }));
  expect([sent, core.serverClock.now()]).toEqual([[], null]);
  await phone.forgotten();
});

test('the server’s answer is reported, and not a later attempt’s time-out', async () => {
  /** The first requests are answered with an error: three for the account, and one ping. Later ones are never answered. */
  const ANSWERED = 4;
  let requests = 0;
  const error = { message: 'away', extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true } };
  const answer = () => new Response(JSON.stringify({ errors: [error] }));
  const fetch = async () => {
    requests += 1;
    return requests <= ANSWERED ? answer() : new Promise<Response>(() => {});
  };
  const { client, market } = fakeClient({ client: { environment: { fetch } } });
  const placing = client.orders.ticket().place(buying('gateway away'));
  await market.pass(10);
  expect(await placing).toMatchObject(unsent('GATEWAY_UNAVAILABLE'));
  expect(requests).toBeGreaterThan(ANSWERED);
  client.dispose();
});
