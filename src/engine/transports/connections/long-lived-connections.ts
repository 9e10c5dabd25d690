/** A connection that lasts until one side closes it: a WebSocket or an event stream. */
interface LongLivedConnection {
  /** Closes it, so that its client reconnects and reaches another replica. */
  restart(): void;
}

/** The connections that a shutdown has to close, since their clients would stay. */
export class LongLivedConnections {
  readonly #open = new Set<LongLivedConnection>();
  #isDraining = false;

  /** One that opens during the drain is closed as well, or the drain would wait for it. */
  add(connection: LongLivedConnection): void {
    if (this.#isDraining) connection.restart();
    else this.#open.add(connection);
  }

  delete(connection: LongLivedConnection): void {
    this.#open.delete(connection);
  }

  /** Closes all of them. Their clients reconnect with jitter. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#open) connection.restart();
    this.#open.clear();
  }
}
