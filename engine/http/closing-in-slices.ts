import type { Clock } from '../../lib/clock.ts';

/** Connections that last until one side closes them, sockets or event streams, and have not been asked to close. */
export class LastingConnections<Connection> {
  readonly #remaining = new Set<Connection>();
  readonly #close: (connection: Connection) => void;
  #isDraining = false;

  constructor(close: (connection: Connection) => void) {
    this.#close = close;
  }

  get size(): number {
    return this.#remaining.size;
  }

  /** One that opens during the drain is closed as well, or the drain would wait for it. */
  add(connection: Connection): void {
    if (this.#isDraining) this.#close(connection);
    else this.#remaining.add(connection);
  }

  delete(connection: Connection): void {
    this.#remaining.delete(connection);
  }

  drain(): void {
    this.#isDraining = true;
  }

  /** Clients reconnect, and reach another replica. */
  closeOldest(count: number): void {
    let left = count;
    for (const connection of this.#remaining) {
      if (left === 0) return;
      left -= 1;
      this.#remaining.delete(connection);
      this.#close(connection);
    }
  }
}

type Kinds = readonly Pick<LastingConnections<unknown>, 'size' | 'closeOldest'>[];

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
  kinds: Kinds,
  { clock, overMs, endsEarly }: SlicesOptions,
): Promise<void> {
  const endsAtMs = clock.now() + overMs;
  // The part of a connection that a slice is short of is carried over to the next.
  let due = 0;
  return new Promise((resolve) => {
    const closeSlice = () => {
      const remaining = kinds.reduce((sum, { size }) => sum + size, 0);
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

function closeOldest(kinds: Kinds, count: number): void {
  let left = count;
  for (const kind of kinds) {
    const part = Math.min(left, kind.size);
    kind.closeOldest(part);
    left -= part;
  }
}
