import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { fakeClient } from '../../src/testing.ts';
import { buying, startPhone, undatedFetch, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('while the server’s time is unknown an order is neither stored nor sent', async () => {
  let pings = 0;
  const withoutPings: typeof fetch = (input, init) => {
    if (!String(init?.body).includes('"{__typename}"')) return undatedFetch(input, init);
    pings += 1;
    return new Promise(() => {});
  };
  const { orders, sent } = phone.open({}, { fetch: withoutPings });
  void orders.ticket({ maxWaitMs: 60_000 }).place(buying('undated'));
  await eventually(() => expect(pings).toBe(1));
  expect([phone.storage.entries.size, sent]).toEqual([0, []]);
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
