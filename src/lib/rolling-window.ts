import type { Clock } from './clock.ts';

interface RollingWindowOptions<Slice> {
  /** A monotonic clock: a step of the wall clock would expire everything, or nothing for hours. */
  readonly clock: Clock;
  readonly spanMs: number;
  readonly slices: number;
  readonly create: () => Slice;
}

/** Recent events in slices of time; the oldest slice expires when a new one begins. */
export class RollingWindow<Slice> {
  readonly #options: RollingWindowOptions<Slice>;
  readonly #sliceMs: number;
  #held: { readonly index: number; readonly slice: Slice }[] = [];
  /** The current slice, until it ends: with a monotonic clock no other check is needed. */
  #latest: Slice | null = null;
  #latestEndsAtMs = 0;

  constructor(options: RollingWindowOptions<Slice>) {
    this.#options = options;
    this.#sliceMs = options.spanMs / options.slices;
  }

  /** Returns the slice for events that happen now. */
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

  /** Returns the unexpired slices, oldest first. */
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
