import type { ServerResponse } from 'node:http';
import type { LastingConnections } from '../closing-in-slices.ts';

/** The open event streams of subscriptions, which a drain has to end. */
export class EventStreams implements LastingConnections {
  readonly #open = new Set<ServerResponse>();
  #draining = false;

  /** A stream that opens during the drain is ended as well, or the drain would wait for it. */
  add(stream: ServerResponse): void {
    if (this.#draining) stream.destroy();
    else this.#open.add(stream);
  }

  delete(stream: ServerResponse): void {
    this.#open.delete(stream);
  }

  get remaining(): number {
    return this.#open.size;
  }

  /** Clients reconnect, and reach another replica. */
  closeOldest(count: number): void {
    let left = count;
    for (const stream of this.#open) {
      if (left === 0) return;
      left -= 1;
      this.#open.delete(stream);
      stream.destroy();
    }
  }

  drain(): void {
    this.#draining = true;
  }
}
