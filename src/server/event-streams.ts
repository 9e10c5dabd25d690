import type { ServerResponse } from 'node:http';

/** The answers that go on until somebody ends them. */
export class EventStreams {
  readonly #open = new Set<ServerResponse>();
  #ended = false;

  /** One that opens when all are to end is ended as well: nobody would come back to it. */
  add(stream: ServerResponse): void {
    if (this.#ended) stream.destroy();
    else this.#open.add(stream);
  }

  delete(stream: ServerResponse): void {
    this.#open.delete(stream);
  }

  /** Their clients reconnect, and find another server. */
  end(): void {
    this.#ended = true;
    for (const stream of this.#open) stream.destroy();
  }
}
