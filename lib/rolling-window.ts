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

  constructor(options: RollingWindowOptions<Slice>) {
    this.#options = options;
    this.#sliceMs = options.spanMs / options.slices;
  }

  /** Returns the slice for events that happen now. */
  current(): Slice {
    const index = this.#forget();
    const last = this.#held.at(-1);
    if (last?.index === index) return last.slice;
    const slice = this.#options.create();
    this.#held.push({ index, slice });
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
