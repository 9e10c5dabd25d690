import type { Clock } from '../../lib/clock.ts';

interface RollingWindowOptions<Slice> {
  /** A monotonic clock: a step of the wall clock would expire everything, or nothing for hours. */
  readonly clock: Clock;
  readonly spanMs: number;
  readonly slices: number;
  readonly create: () => Slice;
}

/** Recent events in slices of time; the oldest slice expires when a new one begins. */
export function createRollingWindow<Slice>(options: RollingWindowOptions<Slice>) {
  const { clock, spanMs, slices, create } = options;
  const sliceMs = spanMs / slices;
  let held: { readonly index: number; readonly slice: Slice }[] = [];

  function forget(): number {
    const index = Math.floor(clock.now() / sliceMs);
    const oldest = index - slices + 1;
    if (held[0] !== undefined && held[0].index < oldest) {
      held = held.filter((each) => each.index >= oldest);
    }
    return index;
  }

  return {
    /** Returns the slice for events that happen now. */
    current(): Slice {
      const index = forget();
      const last = held.at(-1);
      if (last?.index === index) return last.slice;
      const slice = create();
      held.push({ index, slice });
      return slice;
    },
    /** Returns the unexpired slices, oldest first. */
    slices(): readonly Slice[] {
      forget();
      return held.map(({ slice }) => slice);
    },
  };
}
