import { describe, expect, test } from 'vitest';
import { KeyForgottenError } from '../../../src/domain/trading/order-errors.ts';
import type { OrderResult } from '../../../src/domain/trading/outcome.ts';
import { VOIDED } from '../../../src/domain/trading/outcome.ts';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  RecordsUnavailableError,
  toOrderRecord,
} from '../../../src/store/order-records.ts';
import { answered, demo, demoProof, last, stage, ticketOf } from './order-stage.ts';

const HOUR_MS = 3_600_000;
const voided: OrderResult = { outcome: VOIDED, idempotencyKey: 'k', replayed: false };
const voidedBefore: OrderResult = { ...voided, replayed: true };

describe('a used key', () => {
  test('is answered with its order’s rejection, even if the gateway’s error is named VOIDED', async () => {
    const { orders, calls, clock, start, begin } = stage();
    const { placed } = await begin('k');
    last(calls).end(answered(422, { err: 'VOIDED' }));
    const first = await placed;
    expect(first.outcome.kind).toBe('rejected');
    for (const process of [orders, start()]) {
      const answer = await process.void(demoProof, 'k', clock.now());
      expect(answer).toEqual({ ...first, replayed: true });
    }
  });

  test('that is freed and used again repeatedly cannot be voided', async () => {
    let attempts = 0;
    const pending = toOrderRecord({ id: '', inputDigest: '', reservedAtMs: 0 }, null, 60_000);
    const { orders, clock } = stage(() => ({
      async voidKey() {
        attempts += 1;
        return { voided: false, record: { ...pending, id: `${attempts}` } };
      },
      find: async (): Promise<OrderRecord | null> => null,
    }));
    const answer = orders.void(demoProof, 'k', clock.now()).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await answer).toBeInstanceOf(RecordsUnavailableError);
    expect(attempts).toBe(10);
  });
});

describe('if the records do not reach back to the creation of the key', () => {
  test('the key is voided, but the answer does not claim that nothing was sent', async () => {
    // The records begin at the start of the test.
    const { orders, calls, clock, start } = stage();
    await clock.advance(HOUR_MS);
    const madeAtMs = clock.now() - HOUR_MS;
    await expect(orders.void(demoProof, 'k', madeAtMs - 1)).rejects.toThrow(KeyForgottenError);
    await clock.advance(HOUR_MS);
    for (const process of [orders, start()]) {
      for (const sinceMs of [madeAtMs - 1, null]) {
        await expect(process.void(demoProof, 'k', sinceMs)).rejects.toThrow(KeyForgottenError);
      }
      await expect(process.placed(demoProof, 'k')).rejects.toThrow(KeyForgottenError);
      // An order with the key is refused, and the refusal mentions earlier requests.
      const late = await process.place(demo, demoProof, ticketOf('k'));
      const message = expect.stringContaining('an earlier request with its key');
      expect(late).toEqual({
        ...voidedBefore,
        outcome: { ...VOIDED, message },
        earlierUnknown: true,
      });
      // The records cover the whole life of a later key, so they show that nothing was sent before it was voided.
      for (const sinceMs of [madeAtMs, clock.now()]) {
        expect(await process.void(demoProof, 'k', sinceMs)).toEqual(voidedBefore);
      }
    }
    expect(calls).toEqual([]);
  });

  test('a key counts as a day old if its age is unknown, or if it is more than two seconds in the future', async () => {
    const { orders, clock } = stage();
    await clock.advance(RECORD_LIFE_MS - 1);
    for (const madeAtMs of [null, clock.now() + 2_001]) {
      const forgotten = orders.void(demoProof, 'early', madeAtMs);
      await expect(forgotten).rejects.toThrow(KeyForgottenError);
    }
    expect(await orders.void(demoProof, 'k', clock.now() + 2_000)).toEqual(voided);
    // From now on the records reach back a day, so they cover these keys.
    await clock.advance(1);
    expect(await orders.void(demoProof, 'unknown', null)).toMatchObject({ outcome: VOIDED });
    const dayBeforeMs = clock.now() - RECORD_LIFE_MS;
    expect(await orders.void(demoProof, 'day', dayBeforeMs)).toMatchObject({ outcome: VOIDED });
    const older = orders.void(demoProof, 'older', dayBeforeMs - 1);
    await expect(older).rejects.toThrow(KeyForgottenError);
  });
});
