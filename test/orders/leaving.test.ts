import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, waiting } from './order-request.ts';

for (const transport of ['http', 'socket'] as const) {
  for (const order of [buying('left', 'TEST.SLOW'), waiting('left', 'TEST.SLOW')]) {
    test(`${order.mutation} runs to its end though its client is gone after 50 ms (${transport})`, async () => {
      await using facade = await startOrderFacade({}, { slowMs: 500 });
      const { sandbox } = facade;
      const client = facade.client();
      // Proved and connected before, so that 50 ms are the order's own.
      await client.placed('none', { transport });
      expect(await client.place(order, { transport, leavesAfterMs: 50 })).toEqual({ kind: 'cut' });
      expect(sandbox.orders()).toEqual([]);
      const outcome = await client.placed('left', { transport });
      expect(sandbox.orders()).toHaveLength(1);
      expect(outcome).toEqual({
        kind: 'outcome',
        type: 'OrderAccepted',
        orderId: sandbox.orders()[0]?.orderId,
        replayed: true,
      });
      expect(await client.place(order)).toEqual(outcome);
      expect(sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder')).toBe(1);
    });
  }
}

test('the outcome is on record though nobody ever asks while it is under way', async () => {
  await using facade = await startOrderFacade({}, { slowMs: 300 });
  const { sandbox } = facade;
  const client = facade.client();
  await client.placed('none');
  await client.place(buying('unheard', 'TEST.SLOW'), { leavesAfterMs: 50 });
  await eventually(() => sandbox.orders().length === 1);
  await client.close();
  const other = facade.client();
  expect(await other.placed('unheard')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});

test('a client that leaves while its token is being proved has ordered all the same', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 300, times: 1 });
  expect(await client.place(buying('early'), { leavesAfterMs: 50 })).toEqual({ kind: 'cut' });
  await eventually(() => sandbox.orders().length === 1);
  expect(await client.placed('early')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});
