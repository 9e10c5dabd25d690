import type { Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import { isObject, protocolError, serverError } from '../request/failures.ts';
import { EventStreamReader, type StreamEvent } from './event-stream.ts';
import type { Line, LineEvents, Loss, SubscribeRequest, SubscriptionEvents } from './line.ts';
import { Watchdog } from './watchdog.ts';

const HANDSHAKE_MS = 10_000;

export interface StreamLineOptions {
  readonly url: string;
  readonly token: string;
  readonly heartbeatMs: number;
  readonly events: LineEvents;
}

/** One subscription by an event stream over fetch, in distinct connections mode. */
export class StreamLine implements Line {
  readonly isReusable = false;
  readonly #environment: Environment;
  readonly #url: string;
  readonly #token: string;
  readonly #heartbeatMs: number;
  readonly #events: LineEvents;
  readonly #abort = new AbortController();
  #watchdog: Watchdog | null = null;
  #cancelHandshake: () => void = () => {};
  #isOver = false;

  constructor(environment: Environment, { url, token, heartbeatMs, events }: StreamLineOptions) {
    this.#environment = environment;
    this.#url = url;
    this.#token = token;
    this.#heartbeatMs = heartbeatMs;
    this.#events = events;
  }

  start(request: SubscribeRequest, events: SubscriptionEvents): () => void {
    this.#cancelHandshake = this.#environment.after(HANDSHAKE_MS, () =>
      this.#lost({ kind: 'broken' }),
    );
    void this.#follow(request, events).catch(() => this.#lost({ kind: 'broken' }));
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
    const response = await this.#environment.fetch(this.#url, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${this.#token}`,
      },
      body: JSON.stringify({ ...document, variables: variables ?? undefined }),
      signal: this.#abort.signal,
    });
    const requestId = response.headers.get('x-request-id');
    if (!isEventStream(response)) {
      this.#refused(await response.text(), requestId, events);
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
      environment: this.#environment,
      heartbeatMs: this.#heartbeatMs,
      onDead: () => this.#lost({ kind: 'broken' }),
    });
    this.#events.acknowledged();
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
      events.next(resultOf(data, requestId));
    }
  }

  /** The server says why. A proxy or a captive portal, which answers with a page, is gone at some time. */
  #refused(text: string, requestId: string | null, events: SubscriptionEvents): void {
    if (this.#isOver) return;
    const { errors } = resultOf(text, requestId);
    if (errors.length === 0) {
      this.#lost({ kind: 'broken' });
      return;
    }
    this.close();
    events.ended(errors);
  }

  #lost(loss: Loss): void {
    if (this.#isOver) return;
    this.close();
    this.#events.lost(loss);
  }
}

export function isEventStream({ status, headers }: Response): boolean {
  return status === 200 && headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function resultOf(text: string, requestId: string | null): Result<unknown> {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Text that is not JSON has neither data nor errors.
  }
  const { data, errors } = isObject(body) ? body : {};
  return {
    data: data ?? null,
    errors: (Array.isArray(errors) ? errors : []).map((error) => serverError(error, requestId)),
  };
}
