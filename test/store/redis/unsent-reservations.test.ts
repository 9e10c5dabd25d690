import { expect, test } from 'vitest';
import type { Reservation } from '../../../src/store/order-records.ts';
import { UnsentReservations } from '../../../src/store/redis/unsent-reservations.ts';
import { request } from '../order-records-contract.ts';

test('each is released by one try at a time, until one succeeds', async () => {
  const tries: PromiseWithResolvers<void>[] = [];
  const unsent = new UnsentReservations(() => {
    const next = Promise.withResolvers<void>();
    tries.push(next);
    return next.promise;
  });
  const reservation: Reservation = { ...request('1', 'k'), id: 'r-1' };
  unsent.add(reservation);
  for (let look = 0; look < 3; look += 1) unsent.releaseAll();
  expect(tries).toHaveLength(1);
  tries[0]?.reject(new Error('Redis is slow'));
  await new Promise((resolve) => setImmediate(resolve));
  unsent.releaseAll();
  expect(tries).toHaveLength(2);
  tries[1]?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  unsent.releaseAll();
  expect(tries).toHaveLength(2);
});
