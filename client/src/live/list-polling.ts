import type { Core, Result } from '../core.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import type { Operation } from '../operation.ts';
import { asTradingGraphError } from '../request/failures.ts';
import { pause } from '../request/pause.ts';

const POLL_MS = 5_000;
const ATTEMPT_MS = 10_000;

/** Polls a list by queries every five seconds, in place of a subscription, while the app is visible. */
export class ListPolling<Data> {
  readonly #core: Core;
  readonly #query: Operation<Data, never>;
  /** Receives each answer, with the server's time before the query was sent. */
  readonly #onAnswer: (result: Result<Data>, sentAt: Date) => void;
  #running: AbortController | null = null;

  constructor(
    core: Core,
    query: Operation<Data, never>,
    onAnswer: (result: Result<Data>, sentAt: Date) => void,
  ) {
    this.#core = core;
    this.#query = query;
    this.#onAnswer = onAnswer;
  }

  start(): void {
    if (this.#running !== null) return;
    this.#running = new AbortController();
    fireAndForget(this.#run(this.#running.signal));
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { environment, serverClock } = this.#core;
    while (!signal.aborted) {
      if (environment.lifecycle.isVisible) {
        const sentAt = new Date(serverClock.now() ?? environment.now());
        const result = await this.#ask(signal);
        if (signal.aborted) return;
        this.#onAnswer(result, sentAt);
      }
      await pause(environment, POLL_MS, signal);
    }
  }

  /** Names the account, so that an answer for another user is refused. */
  async #ask(signal: AbortSignal): Promise<Result<Data>> {
    try {
      const account = await this.#core.account(signal);
      const options = { account, repeats: false, timeoutMs: ATTEMPT_MS, signal };
      return await this.#core.request(this.#query, {} as never, options);
    } catch (thrown) {
      return { data: null, errors: [asTradingGraphError(thrown)] };
    }
  }
}
