import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Exchange, WireCall } from './exchange.ts';

interface ClockSkewOptions {
  /** The clock of this machine, whose date is compared. */
  readonly clock: Pick<Clock, 'now' | 'date'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

const SAMPLES = 10;
const REST_MS = 1_000;
const BEYOND_MS = 30_000;
/** `Date` names a second that has begun. */
const HALF_A_SECOND_MS = 500;

/**
 * How far the gateway's clock is ahead of this machine's, by the `Date` of its answers. Either clock may be
 * the wrong one; tokens that one of them takes for expired or not yet valid tell nothing of that.
 */
export class ClockSkew {
  readonly #options: ClockSkewOptions;
  /** The last differences, in turn. */
  readonly #samples = new Float64Array(SAMPLES);
  #taken = 0;
  #nextAtMs = 0;
  #ms: number | null = null;
  #isBeyond = false;

  constructor(options: ClockSkewOptions) {
    this.#options = options;
  }

  /** The median of ten answers; null before there were ten. */
  get ms(): number | null {
    return this.#ms;
  }

  /** Called with each exchange, at a time by the steady clock. The first ten answers count, then one in a second. */
  saw({ operation }: WireCall, exchange: Exchange, steadyMs: number): void {
    if (!exchange.sent || !exchange.answered) return;
    // A cache may have answered, with the time at which the gateway once did.
    if (operation === 'getAllTickers' || exchange.headers.age !== undefined) return;
    if (this.#taken >= SAMPLES && steadyMs < this.#nextAtMs) return;
    const gatewayMs = Date.parse(exchange.headers.date ?? '');
    if (Number.isNaN(gatewayMs)) return;
    this.#nextAtMs = steadyMs + REST_MS;
    const { clock } = this.#options;
    const halfWayMs = clock.date() - (clock.now() - exchange.sentAtMs) / 2;
    this.#samples[this.#taken % SAMPLES] = gatewayMs + HALF_A_SECOND_MS - halfWayMs;
    this.#taken += 1;
    if (this.#taken >= SAMPLES) this.#judge();
  }

  degradedReason(): string | null {
    if (!this.#isBeyond || this.#ms === null) return null;
    const seconds = Math.round(this.#ms / 1000);
    const side = seconds > 0 ? 'behind' : 'ahead of';
    return `this machine's clock is ${Math.abs(seconds)} s ${side} the gateway's`;
  }

  #judge(): void {
    const sorted = this.#samples.toSorted();
    const lower = sorted[SAMPLES / 2 - 1] as number;
    const upper = sorted[SAMPLES / 2] as number;
    // Their mean would be a difference that no answer had, while a clock has just been set.
    const ms = Math.abs(lower) < Math.abs(upper) ? lower : upper;
    this.#ms = ms;
    const isBeyond = Math.abs(ms) > BEYOND_MS;
    if (isBeyond === this.#isBeyond) return;
    this.#isBeyond = isBeyond;
    const skewSeconds = Math.round(ms / 1000);
    if (isBeyond)
      this.#options.log.warn({ skewSeconds }, 'the clocks here and at the gateway differ');
    else this.#options.log.info({ skewSeconds }, 'the clocks here and at the gateway agree again');
  }
}
