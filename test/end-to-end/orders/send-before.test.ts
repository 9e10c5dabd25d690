import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, TOO_LATE_MS, waiting, within } from './order-request.ts';

const EXPIRED = { type: 'OrderRejected', error: 'EXPIRED', sent: false };

test.each([
  ['http', buying('k')],
  ['socket', waiting('k')],
] as const)(
  'an order that comes too late is rejected unsent, and its key is used up (%s)',
  async (transport, order) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    const late = await client.place(within(order, TOO_LATE_MS), { transport });
    expect(late).toMatchObject({ ...EXPIRED, replayed: false });
    const again = await client.place(order, { transport });
    expect(again).toMatchObject({ ...EXPIRED, replayed: true });
    expect(sandbox.orders()).toEqual([]);
    const timely = { ...order, input: { ...order.input, idempotencyKey: 'timely' } };
    const sent = await client.place(within(timely, 60_000), { transport });
    expect(sent).toMatchObject({ type: 'OrderAccepted', replayed: false });
    // The gateway knows nothing of it.
    expect(sandbox.requests().at(-1)?.body).not.toContain('sendBefore');
    expect(await readinessOf(facade.url)).toEqual({ status: 'ok' });
  },
);

test('orders that come too late take nothing from those that are in time', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '40' });
  const client = facade.client();
  const replies: unknown[] = [];
  for (let n = 0; n < 60; n += 1)
    replies.push(await client.place(within(buying(`late ${n}`), TOO_LATE_MS)));
  expect(replies.slice(0, 2)).toMatchObject([EXPIRED, EXPIRED]);
  const refused = { code: 'IDEMPOTENCY_UNAVAILABLE' };
  expect(replies.slice(2)).toMatchObject(Array.from({ length: 58 }, () => refused));
  for (let n = 0; n < 20; n += 1) {
    expect(await client.place(buying(`k${n}`))).toMatchObject({ type: 'OrderAccepted' });
  }
});

test('sendBefore is refused where it is no moment or more than a day ahead, and the key stays free', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  const refused = { code: 'BAD_USER_INPUT', argument: 'input.sendBefore' };
  expect(await client.place(within(buying('k'), 86_460_000))).toMatchObject(refused);
  const moments = ['2026-11-20', '2026-02-30T00:00:00Z', 1_795_392_427_840, true, null];
  for (const sendBefore of moments) {
    for (const { mutation, input } of [buying('k'), waiting('k')]) {
      const reply = await client.place({ mutation, input: { ...input, sendBefore } });
      expect(reply, String(sendBefore)).toMatchObject(refused);
    }
  }
  expect(await client.place(buying('k'))).toMatchObject({ replayed: false });
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

test.each([
  ['behind', 600, EXPIRED],
  ['ahead of', -600, { type: 'OrderAccepted' }],
  // As far as a date of whole seconds tells.
  ['not', 0, { type: 'OrderAccepted' }],
])(
  'where this clock is %s the gateway’s, the later of the two dates decides',
  async (_, shiftSeconds, outcome) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    sandbox.fail({ operation: '*', kind: 'clock', shiftSeconds });
    const token = sandbox.token({ email: 'user-1@example.com' });
    for (let call = 0; call < 10; call += 1) await facade.query('{ customerId }', { token });
    const client = facade.client({ token });
    expect(await client.place(within(buying('k'), 300_000))).toMatchObject(outcome);
    expect(sandbox.orders()).toHaveLength(shiftSeconds > 0 ? 0 : 1);
    const ready = await readinessOf(facade.adminUrl);
    expect(ready.reasons).toEqual(shiftSeconds === 0 ? undefined : ['gateway']);
  },
);
