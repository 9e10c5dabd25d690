const RECENT_SLICES = 6;
/** Of the hour, each as long as `SLICES_AN_AGE` slices. */
const AGES = 12;
const SLICES_AN_AGE = 30;
// A fifth wide each, from a quarter of a millisecond to a minute.
const BUCKETS = 72;
const BUCKETS_AN_OCTAVE = 4;
const FIRST_OCTAVE = -2;

const LEAST_RECENT = 10;
const LEAST_USUAL = 30;
// Less than three, since either median may be off by a bucket: a threefold one is never missed.
const SLOWER = 2.5;
const STILL_SLOWER = 2;
const LEAST_MORE_MS = 50;

/** In milliseconds. */
export interface Slowdown {
  readonly medianMs: number;
  readonly usualMs: number;
}

/** How long the calls of one operation take: in the last minute, and in the hour before. */
export class Speed {
  readonly #recent = Array.from({ length: RECENT_SLICES }, () => new Uint32Array(BUCKETS));
  readonly #ages = Array.from({ length: AGES }, () => new Uint32Array(BUCKETS));
  #turns = 0;
  #current = this.#recent[0] as Uint32Array;
  #slowdown: Slowdown | null = null;
  #now: number | null = null;
  #usual: number | null = null;

  /** The medians in milliseconds as of the last turn; null: too few calls. */
  get now(): number | null {
    return this.#now;
  }

  get usual(): number | null {
    return this.#usual;
  }

  /** Null where it is about as quick as usual. */
  get slowdown(): Slowdown | null {
    return this.#slowdown;
  }

  add(ms: number): void {
    const at = Math.floor((Math.log2(ms) - FIRST_OCTAVE) * BUCKETS_AN_OCTAVE);
    const bucket = Math.min(BUCKETS - 1, Math.max(0, at));
    this.#current[bucket] = (this.#current[bucket] as number) + 1;
  }

  /** Begins the next slice. */
  turn(): void {
    this.#now = median(this.#recent, LEAST_RECENT);
    this.#usual = median(this.#ages, LEAST_USUAL);
    const factor = this.#slowdown === null ? SLOWER : STILL_SLOWER;
    this.#slowdown = slowdownOf(this.#now, this.#usual, factor);
    this.#turns += 1;
    const age = this.#ages[Math.floor(this.#turns / SLICES_AN_AGE) % AGES] as Uint32Array;
    if (this.#turns % SLICES_AN_AGE === 0) age.fill(0);
    this.#current = this.#recent[this.#turns % RECENT_SLICES] as Uint32Array;
    // Slow calls are not the usual ones: while they last the hour forgets, and learns nothing.
    if (this.#slowdown === null)
      for (const [at, count] of this.#current.entries()) age[at] = (age[at] as number) + count;
    this.#current.fill(0);
  }
}

function slowdownOf(now: number | null, usual: number | null, factor: number): Slowdown | null {
  if (now === null || usual === null) return null;
  if (now < factor * usual || now - usual < LEAST_MORE_MS) return null;
  return { medianMs: Math.round(now), usualMs: Math.round(usual) };
}

/** In milliseconds; null for fewer than `least`. */
function median(slices: readonly Uint32Array[], least: number): number | null {
  const counts = new Uint32Array(BUCKETS);
  let calls = 0;
  for (const slice of slices) {
    for (const [at, count] of slice.entries()) {
      counts[at] = (counts[at] as number) + count;
      calls += count;
    }
  }
  if (calls < least) return null;
  let seen = 0;
  const bucket = counts.findIndex((count) => {
    seen += count;
    return seen * 2 >= calls;
  });
  return 2 ** ((bucket + 0.5) / BUCKETS_AN_OCTAVE + FIRST_OCTAVE);
}
