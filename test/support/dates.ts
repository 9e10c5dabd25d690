import { systemClock } from '../../src/lib/clock.ts';
import { datesOf } from '../../src/store/dates.ts';

/** The dates by a clock that was measured to be this much behind the gateway's; null if it was not measured. */
export function datesBy(
  clock: { date(): number } = systemClock,
  skewMs: () => number | null = () => 0,
) {
  return () => datesOf(clock.date(), { ms: skewMs(), earlyMs: skewMs() });
}
