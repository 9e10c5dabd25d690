import type { Clock } from '../../lib/clock.ts';
import type { InputError } from '../../lib/input-error.ts';
import { CLOCK_TOLERANCE_MS, judgedAheadMs, KEY_AHEAD_MS } from '../../store/order-gap.ts';
import { broken } from './input-rules.ts';

export interface KeyClocks {
  readonly clock: Pick<Clock, 'date'>;
  /** How far the gateway's clock is ahead of this machine's; null until it is measured. */
  readonly gatewaySkewMs: () => number | null;
}

/** Refuses a key whose time of creation is in the future. */
export function keyMadeProblem(
  madeMs: number | null,
  { clock, gatewaySkewMs }: KeyClocks,
): InputError | null {
  const judgedNowMs = clock.date() + judgedAheadMs(gatewaySkewMs());
  if (madeMs === null || madeMs - judgedNowMs <= KEY_AHEAD_MS) return null;
  const now = new Date(judgedNowMs).toISOString();
  return broken('input.keyMade', `must be at most 60 seconds ahead: it is ${now} here`);
}

/** Returns a function from a moment to the key's age; its result is null if the client states no usable time of creation. */
export function keyAgeFrom(madeMs: number | null, nowMs: number): (atMs: number) => number | null {
  // A time in the future comes from a wrong clock, so it does not count.
  const isStated = madeMs !== null && madeMs <= nowMs + CLOCK_TOLERANCE_MS;
  return (atMs) => (isStated ? Math.max(0, atMs - madeMs) : null);
}
