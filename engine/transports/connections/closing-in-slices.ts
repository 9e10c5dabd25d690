import { type Clock, pause } from '../../../lib/clock.ts';

/** A connection that lasts until one side closes it: a WebSocket or an event stream. */
interface LongLivedConnection {
  /** Closes it, so that its client reconnects and reaches another replica. */
  restart(): void;
}

/** The lasting connections that have not been asked to close. */
export class LongLivedConnections {
  readonly #remaining = new Set<LongLivedConnection>();
  #isDraining = false;

  get size(): number {
    return this.#remaining.size;
  }

  /** One that opens during the drain is closed as well, or the drain would wait for it. */
  add(connection: LongLivedConnection): void {
    if (this.#isDraining) connection.restart();
    else this.#remaining.add(connection);
  }

  delete(connection: LongLivedConnection): void {
    this.#remaining.delete(connection);
  }

  drain(): void {
    this.#isDraining = true;
  }

  restartOldest(count: number): void {
    let left = count;
    for (const connection of this.#remaining) {
      if (left === 0) return;
      left -= 1;
      this.#remaining.delete(connection);
      connection.restart();
    }
  }
}

interface SlicesOptions {
  readonly clock: Clock;
  readonly overMs: number;
  /** True: a few connections take less than `overMs`. False: the closing takes all of it, even of none. */
  readonly endsEarly: boolean;
}

// With one connection in each slice, fifty clients reconnect in a second, which burdens no replica.
const SLICE_MS = 20;

/** Closes connections, those that open meanwhile last, in slices: together closed, they would reconnect together. */
export async function closeInSlices(
  connections: LongLivedConnections,
  { clock, overMs, endsEarly }: SlicesOptions,
): Promise<void> {
  const endsAtMs = clock.now() + overMs;
  // The part of a connection that a slice is short of is carried over to the next.
  let due = 0;
  while (!(endsEarly && connections.size === 0)) {
    // Computed from the clock each time, so that slices delayed by a busy event loop are caught up with.
    const leftMs = endsAtMs - clock.now();
    if (leftMs <= 0) break;
    due += Math.max(connections.size / Math.ceil(leftMs / SLICE_MS), endsEarly ? 1 : 0);
    connections.restartOldest(Math.floor(due));
    due %= 1;
    await pause(clock, Math.min(SLICE_MS, leftMs));
  }
  connections.restartOldest(connections.size);
}
