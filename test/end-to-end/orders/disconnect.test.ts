import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, waiting } from './order-request.ts';

test.each([
  ['http', buying('left', 'TEST.SLOW')],
  ['socket', waiting('left', 'TEST.SLOW')],
] as const)(
  'an order completes though its client disconnects while it is in flight (%s)',
  async (transport, order) => {
    await using facade = await startOrderFacade({}, { slowMs: 500 });
    const { sandbox } = facade;
    const client = facade.client();
    const calls = () => sandbox.calls('openPosition') + sandbox.calls('placeLimitOrder');
    const disconnectsAfter = eventually(() => calls() === 1);
    expect(await client.place(order, { transport, disconnectsAfter })).toEqual({ kind: 'cut' });
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
    expect(calls()).toBe(1);
  },
);

test('an order is placed though its client disconnects while the token is being proved', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 300, times: 1 });
  const disconnectsAfter = eventually(() => sandbox.calls('getSession') === 1);
  expect(await client.place(buying('early'), { disconnectsAfter })).toEqual({ kind: 'cut' });
  await eventually(() => sandbox.orders().length === 1);
  expect(await client.placed('early')).toMatchObject({ type: 'OrderAccepted', replayed: true });
});
