/** A result as JSON. */
export type JsonText = string;

/** Receives results one at a time, with back-pressure. */
export interface ResultSink {
  /** Returns false if the reader has enough unread data. Then `ready` is called when there may be room. */
  hasRoom(ready: () => void): boolean;
  /** `done` is called when the next result may be sent: synchronously, or when this result has been read. */
  send(result: JsonText, done: () => void): void;
}

/** The events of a subscription that has begun. Transports do not know how they are made. */
export interface OperationEvents extends AsyncIterable<never, void> {
  /** Sends the results to a transport. Resolves when they have ended. Call it once. */
  deliver(sink: ResultSink): Promise<void>;
  /** Ends the source at once if it has not ended, because a quiet stream must not wait for its next event. */
  leave(): void;
}
