import type { Clock } from '../lib/clock.ts';
import { judgedAheadMs } from '../store/order-gap.ts';
import type { Exchange, WireCall } from './exchange.ts';

const SAMPLES = 10;
const REST_MS = 1_000;
/** `Date` names a second that has begun. */
const HALF_A_SECOND_MS = 500;
/** Below it the two may be the same: dates are whole seconds. */
const RESOLUTION_MS = 1_000;
const WRONG_MS = 60_000;

export type ClockSkew = ReturnType<typeof createClockSkew>;

/**
 * How far the gateway's clock is ahead of this machine's, by the `Date` of its answers. Either clock may be
 * the wrong one; tokens that one of them takes for expired or not yet valid tell nothing of that.
 */
export function createClockSkew(
  clock: Pick<Clock, 'now' | 'date'>,
  steady: Pick<Clock, 'now'> = clock,
) {
  /** The samples count from the steady clock, and stay true where the date of this machine is set. */
  const samples = new Float64Array(SAMPLES);
  let taken = 0;
  let nextAtMs = 0;
  /** The gateway's time when the steady clock was at 0. */
  let gatewayMs: number | null = null;
  const aheadOf = (sample: number) => sample + steady.now() - clock.date();
  return {
    /** The median of ten answers; null before there were ten. */
    get ms(): number | null {
      return gatewayMs === null ? null : aheadOf(gatewayMs);
    },
    /** Before there were ten answers, by the one that is furthest ahead; null before the first. */
    get earlyMs(): number | null {
      if (gatewayMs === null && taken === 0) return null;
      return aheadOf(gatewayMs ?? Math.max(...samples.subarray(0, taken)));
    },
    /** How much later it is than by this machine's clock; below 0 where that is wrong. */
    get aheadMs(): number {
      const { ms } = this;
      return ms !== null && Math.abs(ms) > RESOLUTION_MS ? judgedAheadMs(ms) : 0;
    },
    /** No reason to turn traffic away: where the gateway's clock is wrong, all replicas would go at once. */
    degradedReason(): string | null {
      const { ms } = this;
      if (ms === null || Math.abs(ms) <= WRONG_MS) return null;
      const seconds = Math.round(Math.abs(ms) / 1_000);
      return `the gateway's clock is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} this machine's`;
    },
    /** Called with each exchange as it ends. The first ten answers count, then one in a second. */
    saw({ operation }: WireCall, exchange: Exchange): void {
      if (!exchange.sent || !exchange.answered) return;
      // A cache may have answered, with the time at which the gateway once did.
      if (operation === 'getAllTickers' || exchange.headers.age !== undefined) return;
      const nowMs = clock.now();
      if (taken >= SAMPLES && nowMs < nextAtMs) return;
      const answeredMs = Date.parse(exchange.headers.date ?? '');
      if (Number.isNaN(answeredMs)) return;
      nextAtMs = nowMs + REST_MS;
      const halfWayMs = steady.now() - (nowMs - exchange.sentAtMs) / 2;
      samples[taken % SAMPLES] = answeredMs + HALF_A_SECOND_MS - halfWayMs;
      taken += 1;
      // The lower of two: their mean would be a difference that no answer had, while a clock has just been set.
      if (taken >= SAMPLES) gatewayMs = samples.toSorted()[SAMPLES / 2 - 1] as number;
    },
  };
}
