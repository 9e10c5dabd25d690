import { expect, test } from 'vitest';
import { fakeClient } from '../../src/testing.ts';
import { buying } from '../support/phone.ts';

/** A phone whose thread a test blocks by `time.uptimeMs`: late timers run before the answers that have arrived are read. */
function slowPhone() {
  const fake = fakeClient();
  const steps: string[] = [];
  const place = (withinMs: number) =>
    fake.client.orders.ticket().place(buying('slow'), {
      withinMs,
      onProgress: (step) => void steps.push(step),
    });
  return { ...fake, steps, place, time: fake.market.network.time };
}

test('an answer that arrived while the thread was blocked is read before the attempt is given up', async () => {
  const { market, steps, place, time, client } = slowPhone();
  const placing = place(60_000);
  await market.pass(0);
  // The timer for the order's five seconds runs two seconds late.
  time.uptimeMs += 7_000;
  await market.pass(0);
  await market.accept();
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(steps).toEqual(['sending']);
  client.dispose();
});

test('an order in doubt is asked about once more if the thread was blocked until the end of its time', async () => {
  const { market, place, time, client } = slowPhone();
  const placing = place(8_000);
  await market.pass(0);
  expect(market.order).not.toBeNull();
  // The timer for the eight seconds runs four seconds late.
  time.uptimeMs += 12_000;
  await market.pass(1);
  await market.leaveUnsent('EXPIRED');
  expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'EXPIRED' } });
  client.dispose();
});
