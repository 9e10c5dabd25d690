import { describe, expect, test } from 'vitest';
import { CLOSED, type OrderRecord, toOrderRecord } from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { keyOf } from '../../support/order-keys.ts';
import { answered, demo, demoProof, last, stage, ticketOf, ticketWith } from './order-stage.ts';

const TOO_OLD = { name: 'KeyTooOldError', earlierUnknown: true };

describe('a used key', () => {
  test('is answered with its order’s rejection, even if the gateway’s error is named VOIDED', async () => {
    const { orders, calls, start, begin } = stage();
    const { placed } = await begin('k');
    last(calls).end(answered(422, { err: 'VOIDED' }));
    const first = await placed;
    expect(first.outcome.kind).toBe('rejected');
    for (const process of [orders, start()]) {
      const answer = await process.void(demoProof, keyOf('k'));
      expect(answer).toEqual({ ...first, replayed: true });
    }
  });

  test('that is freed and used again repeatedly cannot be voided', async () => {
    let attempts = 0;
    const pending = toOrderRecord({ id: '', inputDigest: 'd', reservedAtMs: 0 }, null, 60_000);
    const { orders, clock } = stage(() => ({
      async voidKey() {
        attempts += 1;
        return { voided: false, record: { ...pending, id: `${attempts}` } };
      },
      find: async (): Promise<OrderRecord | null> => null,
    }));
    const answer = orders.void(demoProof, keyOf('k')).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await answer).toBeInstanceOf(RecordsUnavailableError);
    expect(attempts).toBe(10);
  });
});

test('a voided key is answered with VOIDED by every field and process, and its order is never sent', async () => {
  const { orders, calls, start } = stage();
  const idempotencyKey = keyOf('k');
  const voided = { outcome: CLOSED, idempotencyKey, replayed: false };
  expect(await orders.void(demoProof, idempotencyKey)).toEqual(voided);
  for (const process of [orders, start()]) {
    const again = { ...voided, replayed: true };
    expect(await process.void(demoProof, idempotencyKey)).toEqual(again);
    expect(await process.placed(demoProof, idempotencyKey)).toEqual(again);
    expect(await process.place(demo, demoProof, ticketOf('k'))).toEqual(again);
  }
  expect(calls).toEqual([]);
});

test('a key that is older than the records is closed, but no answer claims that nothing was sent', async () => {
  const { orders, calls, clock, start } = stage();
  const key = keyOf('k');
  await clock.advance(24 * 3_600_000);
  await expect(orders.void(demoProof, key)).rejects.toMatchObject(TOO_OLD);
  // The key would count as young again.
  clock.setDate(-3_600_000);
  for (const process of [orders, start()]) {
    await expect(process.void(demoProof, key)).rejects.toMatchObject(TOO_OLD);
    await expect(process.placed(demoProof, key)).rejects.toMatchObject(TOO_OLD);
    await expect(process.place(demo, demoProof, ticketWith(key))).rejects.toMatchObject(TOO_OLD);
  }
  expect(calls).toEqual([]);
});
