import { describe, expect, test } from 'vitest';
import { type OrderRecord, toOrderRecord } from '../../../src/store/order-records.ts';
import { RecordsUnavailableError } from '../../../src/store/refusals.ts';
import { keyOf } from '../../support/order-keys.ts';
import { answered, demoProof, last, stage } from './order-stage.ts';

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
