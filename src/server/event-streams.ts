import type { ServerResponse } from 'node:http';

/** The open event streams of subscriptions, which a drain has to end. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  #ended = false;

  /** A stream that opens during the drain is ended as well, or the drain would wait for it. */
  add(stream: ServerResponse): void {
    if (this.#ended) stream.destroy();
    else this.#open.add(stream);
  }

  delete(stream: ServerResponse): void {
    this.#open.delete(stream);
  }

  /** Clients reconnect, and reach another replica. */
  end(): void {
    this.#ended = true;
    for (const stream of this.#open) stream.destroy();
  }
}
