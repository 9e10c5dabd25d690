import { expect, test } from 'vitest';
import { keyOf } from '../../support/order-keys.ts';
import { acceptedAs, demo, demoProof, stage, ticketWith } from './order-stage.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const CLOCKS_MS = [-48 * HOUR_MS, -2 * HOUR_MS, -MINUTE_MS, 0, 2_000, 2_001, 10 * HOUR_MS];
const HELD_MS = [0, MINUTE_MS, 3 * HOUR_MS, 11 * HOUR_MS];
const LATER_MS = [0, MINUTE_MS, 10 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS + 1, 30 * HOUR_MS];

test.each(CLOCKS_MS.flatMap((aheadMs) => HELD_MS.map((heldMs) => [aheadMs, heldMs] as const)))(
  'the key of a clock that is %d ms ahead, first used %d ms after it was made, trades at most once',
  async (aheadMs, heldMs) => {
    for (const laterMs of LATER_MS) {
      const { orders, calls, clock } = stage();
      // The records are older than every key.
      await clock.advance(50 * HOUR_MS);
      const ticket = ticketWith(keyOf('k', clock.date() + aheadMs));
      await clock.advance(heldMs);
      const place = async () => {
        const before = calls.length;
        const placed = orders.place(demo, demoProof, ticket).catch((error: Error) => error);
        await clock.advance(0);
        if (calls.length > before) calls.at(-1)?.end(acceptedAs('o-1'));
        return placed;
      };
      const ageMs = heldMs - aheadMs;
      const isTaken = ageMs >= -2_000 && ageMs <= 23.75 * HOUR_MS;
      expect((await place()) instanceof Error).toBe(!isTaken);
      await clock.advance(laterMs);
      const second = await place();
      if (isTaken) expect(calls.length, String(second)).toBe(1);
      else expect(calls.length).toBeLessThanOrEqual(1);
    }
  },
);
