import { messageOf, protocolError } from '../request/failures.ts';
import { parseJson, resultOf } from '../request/wire-result.ts';
import { EventStreamReader, type StreamEvent } from './event-stream.ts';
import { handshakeError } from './handshake-error.ts';
import type {
  Disconnect,
  SubscribeRequest,
  SubscriptionEvents,
  Transport,
  TransportOptions,
} from './transport.ts';
import { Watchdog } from './watchdog.ts';

const HANDSHAKE_MS = 10_000;

/** One subscription by an event stream over fetch, in distinct connections mode. */
export class StreamTransport implements Transport {
  readonly isReusable = false;
  readonly #options: TransportOptions;
  readonly #abort = new AbortController();
  #watchdog: Watchdog | null = null;
  #cancelHandshake: () => void = () => {};
  #isOver = false;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  start(request: SubscribeRequest, events: SubscriptionEvents): () => void {
    const lost = (said: string) => this.#lost({ kind: 'broken', error: handshakeError(said) });
    const late = () => lost('the event stream did not open in time');
    this.#cancelHandshake = this.#options.environment.after(HANDSHAKE_MS, late);
    void this.#follow(request, events).catch((thrown) => lost(messageOf(thrown)));
    return () => this.close();
  }

  check(): boolean {
    return this.#watchdog?.check() ?? true;
  }

  close(): void {
    this.#isOver = true;
    this.#cancelHandshake();
    this.#watchdog?.stop();
    this.#abort.abort();
  }

  async #follow(
    { document, variables }: SubscribeRequest,
    events: SubscriptionEvents,
  ): Promise<void> {
    const { environment, url, token, heartbeatMs } = this.#options;
    const response = await environment.fetch(url, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ ...document, variables: variables ?? undefined }),
      signal: this.#abort.signal,
    });
    const requestId = response.headers.get('x-request-id');
    if (!isEventStream(response)) {
      this.#refused(response.status, await response.text(), requestId, events);
      return;
    }
    if (typeof response.body?.getReader !== 'function') {
      const error = protocolError('This platform cannot read an event stream.');
      this.#lost({ kind: 'fatal', error });
      return;
    }
    if (this.#isOver) return;
    this.#cancelHandshake();
    // Nothing can be asked of a stream.
    this.#watchdog = new Watchdog({
      environment,
      heartbeatMs,
      onDead: () => this.#lost({ kind: 'broken' }),
    });
    this.#options.events.acknowledged();
    const stream = response.body.getReader();
    const reader = new EventStreamReader();
    while (!this.#isOver) {
      const { done, value } = await stream.read();
      if (done) break;
      this.#watchdog.heard();
      for (const event of reader.read(value)) this.#take(event, requestId, events);
    }
    // A stream that was cut lacks the last event.
    this.#lost({ kind: 'broken' });
  }

  #take({ event, data }: StreamEvent, requestId: string | null, events: SubscriptionEvents): void {
    if (this.#isOver) return;
    if (event === 'complete') {
      this.close();
      events.ended([]);
    } else if (event === 'next') {
      events.next(resultOf(parseJson(data), requestId));
    }
  }

  /** The server says why. A proxy or a captive portal, which answers with a page, is gone at some time. */
  #refused(
    status: number,
    text: string,
    requestId: string | null,
    events: SubscriptionEvents,
  ): void {
    if (this.#isOver) return;
    const { errors } = resultOf(parseJson(text), requestId);
    if (errors.length === 0) {
      const error = handshakeError(`the event stream was answered with HTTP ${status}`, { status });
      this.#lost({ kind: 'broken', error });
      return;
    }
    this.close();
    events.ended(errors);
  }

  #lost(disconnect: Disconnect): void {
    if (this.#isOver) return;
    this.close();
    this.#options.events.lost(disconnect);
  }
}

export function isEventStream({ status, headers }: Response): boolean {
  return status === 200 && headers.get('content-type')?.startsWith('text/event-stream') === true;
}
