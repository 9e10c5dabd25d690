import type { Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import { isObject, protocolError, serverError } from '../request/failures.ts';
import { EventStreamReader, type StreamEvent } from './event-stream.ts';
import type { Line, LineEvents, Loss, SubscribeRequest, SubscriptionEvents } from './line.ts';
import { Watchdog } from './watchdog.ts';

const HANDSHAKE_MS = 10_000;
// An event comes every 15 s at least, and nothing can be asked of a stream.
const SILENCE_MS = 20_000;
const ANSWER_MS = 17_500;
const AFTER_RETURN_MS = 16_000;

/** One subscription by an event stream over fetch, in distinct connections mode. */
export class StreamLine implements Line {
  readonly isReusable = false;
  readonly #environment: Environment;
  readonly #url: string;
  readonly #token: string;
  readonly #events: LineEvents;
  readonly #abort = new AbortController();
  #watchdog: Watchdog | null = null;
  #cancelHandshake: () => void = () => {};
  #heardAt = 0;
  #isOver = false;

  constructor(
    environment: Environment,
    { url, token, events }: { url: string; token: string; events: LineEvents },
  ) {
    this.#environment = environment;
    this.#url = url;
    this.#token = token;
    this.#events = events;
  }

  start(request: SubscribeRequest, events: SubscriptionEvents): () => void {
    this.#cancelHandshake = this.#environment.after(HANDSHAKE_MS, () =>
      this.#lost({ kind: 'broken' }),
    );
    void this.#follow(request, events).catch(() => this.#lost({ kind: 'broken' }));
    return () => this.close();
  }

  check(): void {
    // A machine that slept may have a clock that slept as well.
    if (this.#watchdog !== null && this.#environment.now() - this.#heardAt > AFTER_RETURN_MS) {
      this.#lost({ kind: 'broken' });
    }
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
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      this.#refused(await response.text(), response.status, requestId, events);
      return;
    }
    if (typeof response.body?.getReader !== 'function') {
      const error = protocolError('This platform cannot read an event stream.');
      this.#lost({ kind: 'fatal', error });
      return;
    }
    if (this.#isOver) return;
    this.#cancelHandshake();
    this.#watch();
    this.#events.acknowledged();
    const stream = response.body.getReader();
    const reader = new EventStreamReader();
    while (!this.#isOver) {
      const { done, value } = await stream.read();
      if (done) break;
      this.#heard();
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

  #refused(
    text: string,
    status: number,
    requestId: string | null,
    events: SubscriptionEvents,
  ): void {
    if (this.#isOver) return;
    const { errors } = resultOf(text, requestId);
    if (errors.length > 0) {
      this.close();
      events.ended(errors);
    } else if (status >= 500 || status === 408 || status === 429) {
      this.#lost({ kind: 'broken' });
    } else {
      const error = protocolError(`The answer is no event stream (HTTP ${status}).`, { requestId });
      this.#lost({ kind: 'fatal', error });
    }
  }

  #watch(): void {
    this.#heardAt = this.#environment.now();
    this.#watchdog = new Watchdog({
      environment: this.#environment,
      silenceMs: SILENCE_MS,
      answerMs: ANSWER_MS,
      ask: () => {},
      onDead: () => this.#lost({ kind: 'broken' }),
    });
  }

  #heard(): void {
    this.#heardAt = this.#environment.now();
    this.#watchdog?.heard();
  }

  #lost(loss: Loss): void {
    if (this.#isOver) return;
    this.close();
    this.#events.lost(loss);
  }
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
