import { describe, expect, test } from 'vitest';
import { EXPIRED } from '../../../src/domain/trading/outcome.ts';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { keyOf } from '../../support/order-keys.ts';
import { demo, demoProof, notSent, stage, ticketOf } from './order-stage.ts';

const expired = { outcome: EXPIRED, idempotencyKey: keyOf('k'), replayed: false };

describe('an order after its deadline', () => {
  test('expires by this server’s date, even if its connection failed', async () => {
    const { orders, calls, clock, begin } = stage();
    const sendBefore = clock.date() + 5_000;
    // Now the date is a millisecond after the deadline.
    clock.setDate(5_001);
    const { placed } = await begin('k', demo, 'AAPL', orders, sendBefore);
    expect(await placed).toEqual(expired);
    // Now the date is exactly the deadline, when an order may still be sent.
    clock.setDate(-1);
    const late = await begin('late', demo, 'AAPL', orders, sendBefore);
    const timely = await begin('timely', demo, 'AAPL', orders, sendBefore + 1_000);
    expect(calls[0]).toMatchObject({ sendBeforeMs: sendBefore });
    // The deadline of `late` passes before its connection fails.
    await clock.advance(1);
    for (const { end } of calls) end(notSent);
    // `unavailable` would ask the client to repeat an order that has expired.
    expect(await late.placed).toMatchObject({ outcome: EXPIRED });
    await expect(timely.placed).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await orders.placed(demoProof, keyOf('timely'))).toBe(null);
  });
});

test('a deadline more than a day ahead is refused, and the key stays free', async () => {
  const { orders, calls, clock, begin } = stage();
  const furthest = clock.date() + RECORD_LIFE_MS;
  const ticket = ticketOf('k', 'AAPL', furthest + 1);
  await expect(orders.place(demo, demoProof, ticket)).rejects.toMatchObject({
    argument: 'input.sendBefore',
    message: 'input.sendBefore must be at most 24 hours ahead.',
  });
  expect(await orders.placed(demoProof, keyOf('k'))).toBe(null);
  await begin('k', demo, 'AAPL', orders, furthest);
  expect(calls).toHaveLength(1);
});
