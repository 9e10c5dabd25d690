import type { WebSocket } from 'ws';
import type { Clock } from '../../lib/clock.ts';

interface KeepAliveOptions {
  readonly clock: Clock;
  readonly pingMs: number;
  /** The time without a byte before a socket is cut; a client may stop reading for a minute. */
  readonly silenceMs: number;
}

/** A socket, and when it last received anything. */
export interface PingTarget {
  readonly socket: WebSocket;
  lastReceivedAtMs: number;
}

// Pings are spread over the interval: thousands in a row would delay real work.
const GROUPS = 12;

/**
 * Pings sockets, and cuts those that have been silent for too long: a half-open connection looks just
 * like a quiet one. One timer serves all of them.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  readonly #groups: readonly Set<PingTarget>[] = Array.from({ length: GROUPS }, () => new Set());
  #joined = 0;
  #current = 0;
  #isScheduled = false;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  /** Returns the function that leaves. */
  join(target: PingTarget): () => void {
    const group = this.#groups[this.#joined % GROUPS] as Set<PingTarget>;
    this.#joined += 1;
    group.add(target);
    if (!this.#isScheduled) this.#schedule();
    return () => group.delete(target);
  }

  #schedule(): void {
    const { clock, pingMs } = this.#options;
    this.#isScheduled = true;
    clock.after(pingMs / GROUPS, () => {
      this.#pingGroup();
      this.#isScheduled = this.#groups.some(({ size }) => size > 0);
      if (this.#isScheduled) this.#schedule();
    });
  }

  #pingGroup(): void {
    const { clock, silenceMs } = this.#options;
    const silentSinceMs = clock.now() - silenceMs;
    this.#current = (this.#current + 1) % GROUPS;
    for (const { socket, lastReceivedAtMs } of this.#groups[this.#current] as Set<PingTarget>) {
      if (lastReceivedAtMs <= silentSinceMs) socket.terminate();
      // A ping behind unread bytes would only add to them.
      else if (socket.readyState === socket.OPEN && socket.bufferedAmount === 0) socket.ping();
    }
  }
}
