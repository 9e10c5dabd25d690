import type { Clock } from '../../lib/clock.ts';

const SLICES = 10;

/** Recent events in slices of time; the oldest slice expires when a new one begins. */
export class RollingWindow<Slice> {
  readonly #clock: Clock;
  readonly #sliceMs: number;
  readonly #create: () => Slice;
  #held: { readonly index: number; readonly slice: Slice }[] = [];

  constructor(clock: Clock, spanMs: number, create: () => Slice) {
    this.#clock = clock;
    this.#sliceMs = spanMs / SLICES;
    this.#create = create;
  }

  /** Returns the slice for events that happen now. */
  current(): Slice {
    const index = this.#index();
    const last = this.#held.at(-1);
    if (last?.index === index) return last.slice;
    const slice = this.#create();
    this.#held = [...this.#unexpired(), { index, slice }];
    return slice;
  }

  /** Returns the unexpired slices, oldest first. */
  slices(): readonly Slice[] {
    return this.#unexpired().map(({ slice }) => slice);
  }

  #index(): number {
    return Math.floor(this.#clock.now() / this.#sliceMs);
  }

  #unexpired() {
    const oldest = this.#index() - SLICES + 1;
    return this.#held.filter(({ index }) => index >= oldest);
  }
}
