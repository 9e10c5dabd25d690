import type { Clock } from './clock.ts';

export interface RollingWindowOptions<Slice> {
  /** One that never jumps: a step of the wall clock would forget everything, or nothing for hours. */
  readonly clock: Clock;
  readonly spanMs: number;
  readonly slices: number;
  readonly create: () => Slice;
}

/** What happened lately, in slices of time of which the oldest is forgotten as a new one begins. */
export class RollingWindow<Slice> {
  readonly #options: RollingWindowOptions<Slice>;
  readonly #sliceMs: number;
  #held: { readonly index: number; readonly slice: Slice }[] = [];
  /** The slice of now, until it is over: with a clock that never jumps nothing else need be asked. */
  #latest: Slice | null = null;
  #latestEndsAtMs = 0;

  constructor(options: RollingWindowOptions<Slice>) {
    this.#options = options;
    this.#sliceMs = options.spanMs / options.slices;
  }

  /** Where that which happens now belongs. */
  current(): Slice {
    if (this.#latest !== null && this.#options.clock.now() < this.#latestEndsAtMs) {
      return this.#latest;
    }
    const index = this.#forget();
    const last = this.#held.at(-1);
    const slice = last?.index === index ? last.slice : this.#options.create();
    if (last?.index !== index) this.#held.push({ index, slice });
    this.#latest = slice;
    this.#latestEndsAtMs = (index + 1) * this.#sliceMs;
    return slice;
  }

  /** What is still remembered, oldest first. */
  slices(): readonly Slice[] {
    this.#forget();
    return this.#held.map(({ slice }) => slice);
  }

  #forget(): number {
    const index = Math.floor(this.#options.clock.now() / this.#sliceMs);
    const oldest = index - this.#options.slices + 1;
    if (this.#held[0] !== undefined && this.#held[0].index < oldest) {
      this.#held = this.#held.filter((each) => each.index >= oldest);
    }
    return index;
  }
}
