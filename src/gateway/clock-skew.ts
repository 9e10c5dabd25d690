import type { Clock } from '../../lib/clock.ts';
import type { Exchange, WireCall } from './exchange.ts';

const SAMPLES = 10;
const REST_MS = 1_000;
/** `Date` names a second that has begun. */
const HALF_A_SECOND_MS = 500;
/** Below it the two may be the same: dates are whole seconds. */
const RESOLUTION_MS = 1_000;
const WRONG_MS = 30_000;

export type ClockSkew = ReturnType<typeof createClockSkew>;

/**
 * How far the gateway's clock is ahead of this machine's, by the `Date` of its answers. Either clock may be
 * the wrong one; tokens that one of them takes for expired or not yet valid tell nothing of that.
 */
export function createClockSkew(clock: Pick<Clock, 'now' | 'date'>) {
  const samples = new Float64Array(SAMPLES);
  let taken = 0;
  let nextAtMs = 0;
  let ms: number | null = null;
  return {
    /** The median of ten answers; null before there were ten. */
    get ms(): number | null {
      return ms;
    },
    /** How much later it is by the gateway's clock; 0 where it is not. */
    get aheadMs(): number {
      return ms !== null && ms > RESOLUTION_MS ? ms : 0;
    },
    /**
     * No reason to turn traffic away: a replica cannot tell whose clock is wrong, and where it is the gateway's all
     * replicas would go at once.
     */
    degradedReason(): string | null {
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
      const gatewayMs = Date.parse(exchange.headers.date ?? '');
      if (Number.isNaN(gatewayMs)) return;
      nextAtMs = nowMs + REST_MS;
      const halfWayMs = clock.date() - (nowMs - exchange.sentAtMs) / 2;
      samples[taken % SAMPLES] = gatewayMs + HALF_A_SECOND_MS - halfWayMs;
      taken += 1;
      // The lower of two: their mean would be a difference that no answer had, while a clock has just been set.
      if (taken >= SAMPLES) ms = samples.toSorted()[SAMPLES / 2 - 1] as number;
    },
  };
}
