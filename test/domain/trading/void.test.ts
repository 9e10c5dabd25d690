import { describe, expect, test } from 'vitest';
import { KeyForgottenError } from '../../../src/domain/trading/order-errors.ts';
import type { Placed } from '../../../src/domain/trading/orders.ts';
import { VOIDED } from '../../../src/domain/trading/outcome.ts';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import { viewerOf } from '../viewer.ts';
import {
  acceptedAs,
  answered,
  demo,
  demoProof,
  last,
  notSent,
  orderTimeoutMs,
  proofOf,
  stage,
  ticketOf,
} from './order-stage.ts';

const HOUR_MS = 3_600_000;
const closed: Placed = { outcome: VOIDED, idempotencyKey: 'k', replayed: false };
const closedBefore: Placed = { ...closed, replayed: true };

describe('an unused key', () => {
  test('is closed for whatever comes later, here and in other processes, whatever it orders', async () => {
    const { orders, calls, clock, start } = stage();
    expect(await orders.void(demoProof, 'k', clock.now())).toEqual(closed);
    for (const process of [orders, start()]) {
      expect(await process.void(demoProof, 'k', clock.now())).toEqual(closedBefore);
      expect(await process.placed(demoProof, 'k')).toEqual(closedBefore);
      for (const symbol of ['AAPL', 'MSFT']) {
        const late = await process.place(demo, demoProof, ticketOf('k', symbol));
        expect(late).toEqual(closedBefore);
      }
    }
    expect(calls).toEqual([]);
  });

  test('of one account is none of another', async () => {
    const { orders, calls, clock, begin } = stage();
    await orders.void(demoProof, 'k', clock.now());
    const other = viewerOf('token-2', { login: '2002' });
    expect(await orders.placed(proofOf(other), 'k')).toBe(null);
    await begin('k', other);
    expect(calls).toHaveLength(1);
  });
});

describe('a used key', () => {
  test.each([
    ['accepted', acceptedAs('o-1')],
    ['rejected', answered(422, { err: 'VOIDED' })],
    ['unknown', answered(500)],
  ])('answers what became of its order: %s', async (outcome, exchange) => {
    const { orders, calls, clock, start, begin } = stage();
    const { placed } = await begin('k');
    last(calls).end(exchange);
    const first = await placed;
    expect(first.outcome.kind).toBe(outcome);
    for (const process of [orders, start()]) {
      const answer = await process.void(demoProof, 'k', clock.now());
      expect(answer).toEqual({ ...first, replayed: true });
    }
    const repeat = await orders.place(demo, demoProof, ticketOf('k'));
    expect(repeat).toEqual({ ...first, replayed: true });
  });

  test.each(['here', 'elsewhere'])(
    'that comes free is closed by the void that waits for it %s, never left',
    async (where) => {
      const { orders, calls, clock, start, begin } = stage();
      const { placed } = await begin('k');
      const process = where === 'here' ? orders : start();
      const answer = process.void(demoProof, 'k', clock.now());
      await clock.advance(1_000);
      last(calls).end(notSent);
      await expect(placed).rejects.toThrow('never sent');
      await clock.advance(200);
      expect(await answer).toEqual(closed);
      expect(await orders.place(demo, demoProof, ticketOf('k'))).toEqual(closedBefore);
      expect(calls).toHaveLength(1);
      expect(clock.pending).toBe(0);
    },
  );

  test('of a process that died is unknown once its time is over, and not closed', async () => {
    const { calls, clock, start, begin } = stage();
    await begin('k');
    const answer = start().void(demoProof, 'k', clock.now());
    await clock.advance(orderTimeoutMs + 2_000);
    expect(await answer).toMatchObject({ outcome: { kind: 'unknown' }, replayed: true });
    last(calls).end(acceptedAs('late'));
    await clock.advance(0);
    const late = await start().void(demoProof, 'k', clock.now());
    expect(late).toMatchObject({ outcome: { orderId: 'late' } });
  });

  test('that comes free and is used again without end is given up, with an error', async () => {
    let asked = 0;
    const pending = { outcome: null, pendingMs: 60_000, canonical: '', reservedAtMs: 0 };
    const { orders, clock } = stage(() => ({
      async voidKey() {
        asked += 1;
        return { voided: false, record: { ...pending, id: `${asked}` } };
      },
      find: async (): Promise<OrderRecord | null> => null,
    }));
    const answer = orders.void(demoProof, 'k', clock.now()).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await answer).toBeInstanceOf(RecordsUnavailableError);
    expect(asked).toBe(10);
  });
});

describe('where the records do not reach back to when the key was made', () => {
  test('it is closed, and nobody says that nothing was sent', async () => {
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
      // It is told what became of itself.
      const late = await process.place(demo, demoProof, ticketOf('k'));
      const message = expect.stringContaining('an earlier one with its key');
      expect(late).toEqual({ ...closedBefore, outcome: { ...VOIDED, message } });
      // Of one that was made later all is known: nothing could be sent after it was closed.
      for (const sinceMs of [madeAtMs, clock.now()]) {
        expect(await process.void(demoProof, 'k', sinceMs)).toEqual(closedBefore);
      }
    }
    expect(calls).toEqual([]);
  });

  test('a key of an unknown age counts as a day old', async () => {
    const { orders, clock } = stage();
    await clock.advance(RECORD_LIFE_MS - 1);
    await expect(orders.void(demoProof, 'early', null)).rejects.toThrow(KeyForgottenError);
    await clock.advance(1);
    expect(await orders.void(demoProof, 'k', null)).toEqual(closed);
    const dayBeforeMs = clock.now() - RECORD_LIFE_MS;
    expect(await orders.void(demoProof, 'day', dayBeforeMs)).toMatchObject({ outcome: VOIDED });
    const older = orders.void(demoProof, 'older', dayBeforeMs - 1);
    await expect(older).rejects.toThrow(KeyForgottenError);
  });

  test('so does one that was made in the future, but for the difference of two clocks', async () => {
    const { orders, clock } = stage();
    expect(await orders.void(demoProof, 'k', clock.now() + 2_000)).toEqual(closed);
    const future = orders.void(demoProof, 'future', clock.now() + 2_001);
    await expect(future).rejects.toThrow(KeyForgottenError);
  });
});
