import type { Clock } from '../lib/clock.ts';
import type { Exchange, WireCall } from './exchange.ts';

const SAMPLES = 10;
/** At the start two answers that agree are enough, because a wrong clock expires orders until the skew is known. */
const MIN_SAMPLES = 2;
/** Samples that differ by no more than this agree. Dates are whole seconds, and an answer takes time. */
const AGREEMENT_MS = 2_000;
const PAUSE_MS = 1_000; // Between two samples.
/** `Date` is rounded down to the second, so on average it is half a second early. */
const HALF_A_SECOND_MS = 500;
/** When a slower answer's `Date` was written is uncertain by more than processes may differ when they judge keys. */
const QUICK_MS = 500;
const MIN_REPORTED_MS = 60_000;

/** How far the gateway's clock is ahead of this machine's, by the `Date` of its answers. Either clock may be wrong. */
export class ClockSkew {
  readonly #clock: Pick<Clock, 'now' | 'date'>;
  readonly #steady: Pick<Clock, 'now'>;
  /** Each sample is the gateway's time when the steady clock was at 0. A sample stays true if this machine's date is set. */
  readonly #samples = new Float64Array(SAMPLES);
  #taken = 0;
  /** Whether the samples are of quick answers. Until then slow answers count. */
  #areQuick = false;
  /** How much further ahead the clock may be, as the samples are of slow answers. Only this class changes it. */
  slowMs = 0;
  #nextAtMs = 0;
  /** The median of the samples; null while it is unknown. */
  #median: number | null = null;

  constructor(clock: Pick<Clock, 'now' | 'date'>, steady: Pick<Clock, 'now'> = clock) {
    this.#clock = clock;
    this.#steady = steady;
  }

  /** Uses the median of the last ten answers; null until two answers agree or ten have arrived. */
  get ms(): number | null {
    return this.#median === null ? null : this.#aheadOf(this.#median);
  }

  /** Like `ms`, but while the median is unknown the sample that is furthest ahead counts; null before the first. */
  get earlyMs(): number | null {
    if (this.#median === null && this.#taken === 0) return null;
    return this.#aheadOf(this.#median ?? Math.max(...this.#samples.subarray(0, this.#taken)));
  }

  /** Only reported: if readiness turned traffic away, a wrong clock of the gateway would stop all replicas at once. */
  degradedReason(): string | null {
    const { ms } = this;
    if (ms === null || Math.abs(ms) <= MIN_REPORTED_MS) return null;
    const seconds = Math.round(Math.abs(ms) / 1_000);
    return `the gateway's clock is ${seconds} s ${ms > 0 ? 'ahead of' : 'behind'} this machine's`;
  }

  /** Called with each exchange as it ends. The first ten answers count, then one per second. */
  observe({ operation }: WireCall, exchange: Exchange): void {
    if (!exchange.sent || !exchange.answered) return;
    // An answer that a cache may have kept does not count: its date is that of the original answer.
    if (operation.name === 'getAllTickers' || exchange.headers.age !== undefined) return;
    const nowMs = this.#clock.now();
    if (this.#taken >= SAMPLES && nowMs < this.#nextAtMs) return;
    const answeredMs = Date.parse(exchange.headers.date ?? '');
    const tookMs = nowMs - exchange.sentAtMs;
    const isQuick = tookMs <= QUICK_MS;
    if (Number.isNaN(answeredMs) || (this.#areQuick && !isQuick)) return;
    if (isQuick && !this.#areQuick) this.#forgetSlow();
    if (!isQuick) this.slowMs = Math.max(this.slowMs, tookMs);
    this.#nextAtMs = nowMs + PAUSE_MS;
    // A slow gateway writes the `Date` when it answers, so the rest of the time is not the answer's way back.
    const halfWayMs = this.#steady.now() - Math.min(tookMs, QUICK_MS) / 2;
    this.#samples[this.#taken % SAMPLES] = answeredMs + HALF_A_SECOND_MS - halfWayMs;
    this.#taken += 1;
    this.#median = this.#newMedian() ?? this.#median;
  }

  #forgetSlow(): void {
    this.#areQuick = true;
    this.slowMs = 0;
    this.#taken = 0;
    this.#median = null;
  }

  #newMedian(): number | null {
    const sorted = this.#samples.subarray(0, this.#taken).toSorted();
    const [lowest = 0, highest = 0] = [sorted[0], sorted.at(-1)];
    const agree = this.#taken >= MIN_SAMPLES && highest - lowest <= AGREEMENT_MS;
    if (this.#taken < SAMPLES && !agree) return null;
    // The lower of two samples in the middle: if a clock was set between them, their mean is a time that no answer showed.
    return sorted[Math.ceil(sorted.length / 2) - 1] ?? null;
  }

  #aheadOf(sample: number): number {
    return sample + this.#steady.now() - this.#clock.date();
  }
}
