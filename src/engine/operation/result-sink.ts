/** A result as JSON: a string, or where it is large chunks of UTF-8 outside the heap, which are not joined. */
export type JsonText = string | readonly Buffer[];

/** Receives results one at a time, with back-pressure. */
export interface ResultSink {
  /** Returns false where the reader has enough unread: `ready` is called once there may be room. */
  hasRoom(ready: () => void): boolean;
  /** `left` is called when the next result may be sent: synchronously, or once this one has been read. */
  send(result: JsonText, left: () => void): void;
}

export type Over = IteratorReturnResult<void>;

export const OVER: Over = { done: true, value: undefined };

/** Events that a transport follows to their end; they themselves go to its sink. */
export interface Delivery extends AsyncIterableIterator<never, void> {
  return(): Promise<Over>;
}

/** The events of a subscription that has begun; what they are made by, no transport knows. */
export interface OperationEvents extends Delivery {
  /** Delivers to a transport that writes results itself, and iterates to their end. */
  deliver(sink: ResultSink): Delivery;
  /** Ends the source at once, if it has not ended: a quiet stream must not wait for its next event. */
  leave(): void;
}
