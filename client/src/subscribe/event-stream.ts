/** A dispatched event of `text/event-stream`. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads the bytes of an event stream, in whatever pieces they come. */
export class EventStreamReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** The events that the piece completes. */
  read(bytes: Uint8Array): readonly StreamEvent[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(
      /\r\n|\n|\r(?!$)/,
    );
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    return null;
  }

  #dispatch(): StreamEvent | null {
    const { length } = this.#data;
    const dispatched = { event: this.#event || 'message', data: this.#data.join('\n') };
    this.#event = '';
    this.#data = [];
    return length > 0 || dispatched.event === 'complete' ? dispatched : null;
  }
}
