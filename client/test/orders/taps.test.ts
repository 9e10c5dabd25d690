import { expect, test } from 'vitest';
import { ACCEPTED, buying, startPhone } from '../support/phone.ts';

test('a tap while the key of an expired order is deleted joins it, and the next one is another order', async () => {
  await using phone = await startPhone();
  phone.line.aheadMs = -10_000;
  const isDeleting = Promise.withResolvers<void>();
  const mayDelete = Promise.withResolvers<void>();
  phone.storage.before = async (step) => {
    if (step !== 'delete') return;
    isDeleting.resolve();
    await mayDelete.promise;
  };
  const { orders, core } = phone.open();
  const ticket = orders.ticket();
  const { idempotencyKey } = ticket;
  const placing = ticket.place(buying('late'));
  await isDeleting.promise;
  const tapped = ticket.place(buying('late'));
  mayDelete.resolve();
  expect(await tapped).toMatchObject({ idempotencyKey, error: { code: 'EXPIRED' } });
  expect(await placing).toEqual(await tapped);
  expect(ticket.idempotencyKey).not.toBe(idempotencyKey);
  phone.line.aheadMs = 0;
  await core.request('{__typename}', {});
  // The form may be changed as well.
  expect(await ticket.place(buying('changed'))).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});
