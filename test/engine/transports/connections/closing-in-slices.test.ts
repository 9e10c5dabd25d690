import { expect, test, vi } from 'vitest';
import {
  closeInSlices,
  LongLivedConnections,
} from '../../../../engine/transports/connections/closing-in-slices.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';

test.each([
  { count: 40, overMs: 2_000, endsEarly: false },
  // Many take all of the time.
  { count: 20_000, overMs: 10_000, endsEarly: true },
])(
  '$count connections close evenly over all of $overMs ms, and no longer',
  async ({ count, overMs, endsEarly }) => {
    const clock = createScriptedClock(0);
    const connections = new LongLivedConnections();
    const restart = vi.fn();
    for (let one = 0; one < count; one += 1) connections.add({ restart: () => restart() });
    const over = vi.fn();
    const closing = closeInSlices(connections, { clock, overMs, endsEarly }).then(over);
    for (let percent = 1; percent <= 100; percent += 1) {
      expect(over).not.toHaveBeenCalled();
      await clock.advance(overMs / 100);
      const { length } = restart.mock.calls;
      expect(Math.abs(length - (count * percent) / 100)).toBeLessThanOrEqual(1 + count / 100);
    }
    await closing;
    expect(restart).toHaveBeenCalledTimes(count);
  },
);
