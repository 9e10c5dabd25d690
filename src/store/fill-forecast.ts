import type { Clock } from '../lib/clock.ts';
import { RECORD_LIFE_MS } from './order-records.ts';

interface Sample {
  readonly atMs: number;
  readonly held: number;
}

// Long enough that a minute of haste is no alarm, short enough that a flood is one.
const WINDOW_MS = 15 * 60_000;
const SAMPLE_MS = 10_000;

/** When a store is full if it goes on filling as it did lately. */
export class FillForecast {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #max: number;
  readonly #samples: Sample[] = [];

  constructor(clock: Pick<Clock, 'now'>, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** At most a day: by then as many records expire as are made. */
  secondsLeft(held: number): number {
    const atMs = this.#clock.now();
    const samples = this.#samples;
    while (samples[1] && samples[1].atMs <= atMs - WINDOW_MS) samples.shift();
    const last = samples.at(-1);
    if (!last || atMs - last.atMs >= SAMPLE_MS) samples.push({ atMs, held });
    const [first = { atMs, held }] = samples;
    if (held >= this.#max) return 0;
    if (held <= first.held) return RECORD_LIFE_MS / 1000;
    const leftMs = ((this.#max - held) * (atMs - first.atMs)) / (held - first.held);
    return Math.min(leftMs, RECORD_LIFE_MS) / 1000;
  }
}
