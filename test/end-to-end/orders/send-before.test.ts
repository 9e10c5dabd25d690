import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type OrderRequest, placing, waiting } from './order-request.ts';

const TRANSPORTS = ['http', 'socket'] as const;
const EXPIRED = { type: 'OrderRejected', error: 'EXPIRED', sent: false };
const DAY_MS = 86_400_000;

function within({ mutation, input }: OrderRequest, inMs: number): OrderRequest {
  return { mutation, input: { ...input, sendBefore: new Date(Date.now() + inMs).toISOString() } };
}

describe.each(TRANSPORTS)('sendBefore (%s)', (transport) => {
  test.each([buying('k'), waiting('k')])(
    'of $mutation: later than that it is rejected unsent, and its key is used up',
    async (order) => {
      await using facade = await startOrderFacade();
      const { sandbox } = facade;
      const client = facade.client();
      const late = await client.place(within(order, -1), { transport });
      expect(late).toMatchObject({ ...EXPIRED, replayed: false });
      const again = { ...EXPIRED, replayed: true };
      expect(await client.place(order, { transport })).toMatchObject(again);
      expect(await client.place(within(order, 60_000), { transport })).toMatchObject(again);
      expect(await client.placed('k', { transport })).toMatchObject(again);
      expect(await client.void('k', { transport })).toMatchObject(again);
      const other = await client.place(buying('k', 'MSFT'), { transport });
      expect(other).toMatchObject({ argument: 'input.idempotencyKey' });
      expect(sandbox.calls(order.mutation === 'placeOrder' ? 'openPosition' : order.mutation)).toBe(
        0,
      );
      const timely = { ...order.input, idempotencyKey: 'timely' };
      const sent = await client.place(within({ ...order, input: timely }, DAY_MS - 60_000), {
        transport,
      });
      expect(sent).toMatchObject({ type: 'OrderAccepted', replayed: false });
      // The gateway knows nothing of it.
      expect(sandbox.requests().at(-1)?.body).not.toContain('sendBefore');
    },
  );

  test('does not change what a repeat gets', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    const first = await client.place(within(buying('k'), 60_000), { transport });
    expect(first).toMatchObject({ type: 'OrderAccepted', replayed: false });
    for (const inMs of [-60_000, 60_000, 2 * DAY_MS]) {
      const repeat = await client.place(within(buying('k'), inMs), { transport });
      expect(repeat).toEqual({ ...first, replayed: true });
    }
    expect(facade.sandbox.calls('openPosition')).toBe(1);
  });

  test('is refused where it is no moment or more than a day ahead, and the key stays free', async () => {
    await using facade = await startOrderFacade();
    const client = facade.client();
    await client.placed('none');
    const refused = { code: 'BAD_USER_INPUT', argument: 'input.sendBefore' };
    const far = within(buying('k'), DAY_MS + 60_000);
    expect(await client.place(far, { transport })).toMatchObject(refused);
    const moments = [
      'tomorrow',
      '2026-11-20',
      '2026-02-30T00:00:00Z',
      1_795_392_427_840,
      true,
      null,
    ];
    for (const sendBefore of moments) {
      for (const { mutation, input } of [buying('k'), waiting('k')]) {
        const order = { mutation, input: { ...input, sendBefore } };
        expect(await client.place(order, { transport }), String(sendBefore)).toMatchObject(refused);
      }
    }
    expect(await client.placed('k')).toEqual({ kind: 'nothing' });
    expect(await client.place(buying('k'), { transport })).toMatchObject({ replayed: false });
  });
});

test('an order that waits for a connection is not sent after its moment', async () => {
  // An order has one connection.
  await using facade = await startOrderFacade(
    { GATEWAY_CONNECTIONS: '4', ORDER_TIMEOUT_MS: '5000' },
    { slowMs: 400 },
  );
  const { sandbox } = facade;
  const client = facade.client();
  await client.placed('none');
  const slow = client.place(buying('slow', 'TEST.SLOW'));
  await eventually(() => sandbox.calls('openPosition') === 1);
  const late = client.place(within(buying('late'), 50));
  const timely = client.place(within(buying('timely'), 60_000));
  expect(await slow).toMatchObject({ type: 'OrderAccepted' });
  expect(await late).toMatchObject({ ...EXPIRED, replayed: false });
  expect(await timely).toMatchObject({ type: 'OrderAccepted' });
  expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['slow', 'timely']);
});

test('orders that come too late degrade nothing, and are no calls of the gateway', async () => {
  await using facade = await startOrderFacade();
  const clients = [1, 2, 3, 4].map((n) => facade.client({ email: `user-${n}@example.com` }));
  for (const client of clients) {
    for (let n = 0; n < 5; n += 1) {
      expect(await client.place(within(buying(`late ${n}`), -1))).toMatchObject(EXPIRED);
    }
    expect(await client.place(buying('timely'))).toMatchObject({ type: 'OrderAccepted' });
  }
  const ready = await (await fetch(`${facade.url}/health/ready`)).json();
  expect(ready).toEqual({ status: 'ok' });
  const body = await clients[0]?.send(placing(within(buying('receipt'), -1)));
  expect(body).toMatchObject({ data: { answer: { error: 'EXPIRED' } } });
  expect(facade.logged.filter((line) => line.includes('fails'))).toEqual([]);
});
