import type { WebSocket } from 'ws';
import type { Clock } from '../lib/clock.ts';

export interface KeepAliveOptions {
  readonly clock: Clock;
  /** How often each socket is pinged. */
  readonly pingMs: number;
  /** How long a socket may be silent: who stops reading for a minute is still a reader. */
  readonly silenceMs: number;
}

/** One end of a line, and when something last came from the other. */
export interface Line {
  readonly socket: WebSocket;
  lastReceivedAtMs: number;
}

// Sockets are pinged in turns: thousands of pings at once would hold up what is worth more.
const TURNS = 12;

/**
 * Pings sockets, and cuts those that have been silent for too long: a line that is half open looks
 * just like a quiet one. One timer for all of them.
 */
export class KeepAlive {
  readonly #options: KeepAliveOptions;
  readonly #turns: readonly Set<Line>[] = Array.from({ length: TURNS }, () => new Set());
  #joined = 0;
  #turn = 0;
  #isBeating = false;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
  }

  /** Answers what ends it. */
  join(line: Line): () => void {
    const turn = this.#turns[this.#joined % TURNS] as Set<Line>;
    this.#joined += 1;
    turn.add(line);
    if (!this.#isBeating) this.#plan();
    return () => turn.delete(line);
  }

  #plan(): void {
    const { clock, pingMs } = this.#options;
    this.#isBeating = true;
    clock.after(pingMs / TURNS, () => {
      this.#beat();
      this.#isBeating = this.#turns.some(({ size }) => size > 0);
      if (this.#isBeating) this.#plan();
    });
  }

  #beat(): void {
    const { clock, silenceMs } = this.#options;
    const silentSinceMs = clock.now() - silenceMs;
    this.#turn = (this.#turn + 1) % TURNS;
    for (const { socket, lastReceivedAtMs } of this.#turns[this.#turn] as Set<Line>) {
      if (lastReceivedAtMs <= silentSinceMs) socket.terminate();
      // Behind bytes that nobody takes a ping would only be one more of them.
      else if (socket.readyState === socket.OPEN && socket.bufferedAmount === 0) socket.ping();
    }
  }
}
