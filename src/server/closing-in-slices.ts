import type { Clock } from '../lib/clock.ts';

/** Connections that last until one side closes them: sockets, event streams. */
export interface LastingConnections {
  /** How many have not been asked to close. */
  readonly remaining: number;
  /** Closes up to so many of those that remain, the oldest first. */
  closeOldest(count: number): void;
}

interface SlicesOptions {
  readonly clock: Clock;
  readonly overMs: number;
  /** True: a few connections take less than `overMs`. False: the closing takes all of it, even of none. */
  readonly endsEarly: boolean;
}

// With one connection in each slice, fifty clients reconnect in a second, which burdens no replica.
const SLICE_MS = 20;

/**
 * Closes connections in slices, because clients that are disconnected together reconnect together.
 * Connections that open meanwhile are closed as well, after the older ones.
 */
export function closeInSlices(
  kinds: readonly LastingConnections[],
  { clock, overMs, endsEarly }: SlicesOptions,
): Promise<void> {
  const endsAtMs = clock.now() + overMs;
  // The part of a connection that a slice is short of is carried over to the next.
  let due = 0;
  return new Promise((resolve) => {
    const closeSlice = () => {
      const remaining = kinds.reduce((sum, kind) => sum + kind.remaining, 0);
      // Computed from the clock each time, so that slices delayed by a busy event loop are caught up with.
      const slicesLeft = Math.ceil((endsAtMs - clock.now()) / SLICE_MS);
      if (slicesLeft <= 0 || (endsEarly && remaining === 0)) {
        closeOldest(kinds, remaining);
        resolve();
        return;
      }
      due += Math.max(remaining / slicesLeft, endsEarly ? 1 : 0);
      const count = Math.min(Math.floor(due), remaining);
      due -= Math.floor(due);
      closeOldest(kinds, count);
      clock.after(Math.min(SLICE_MS, endsAtMs - clock.now()), closeSlice);
    };
    closeSlice();
  });
}

function closeOldest(kinds: readonly LastingConnections[], count: number): void {
  let left = count;
  for (const kind of kinds) {
    const part = Math.min(left, kind.remaining);
    kind.closeOldest(part);
    left -= part;
  }
}
