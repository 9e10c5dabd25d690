import type { ExecutionResult } from 'graphql';
import type { Operation } from '../admission/operation.ts';
import { type OpenedOperation, sendableNow } from '../execution/pipeline.ts';
import { RequestSummary } from '../operation/request-summary.ts';
import type { Answer } from '../operation/result-iterator.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { SocketSession } from './socket-session.ts';

/** One operation of a WebSocket, from its `subscribe` until its last message has been handed over. */
export class SocketOperation {
  readonly id: string;
  readonly summary: RequestSummary;
  readonly #session: SocketSession;
  readonly #settings: ServerSettings;
  /** Aborts when the client has disconnected. */
  readonly #leaving = new AbortController();
  #opened: OpenedOperation | null = null;

  constructor(id: string, session: SocketSession, settings: ServerSettings) {
    this.id = id;
    this.#session = session;
    this.#settings = settings;
    this.summary = new RequestSummary({
      requestId: session.requestId,
      transport: 'websocket',
      method: null,
      client: session.naming,
    });
  }

  /** Whether its client waits for the operation's answer. A shutdown does not wait for subscriptions. */
  get isAwaited(): boolean {
    return this.summary.type !== 'subscription' && !this.summary.hasEnded;
  }

  /** Throws a Refusal. `closeSocket` is called with the reason if the end of the token closes the socket. */
  async open(sent: object, closeSocket: (reason: string) => void): Promise<Operation> {
    const { pipeline, tokenEndOf, tokenStatusOf } = this.#settings;
    const { caller, headers, onTokenEnd } = this.#session;
    const { requestId } = this.summary;
    const { signal } = this.#leaving;
    const tokenStatus = tokenStatusOf(caller.token);
    this.#opened = await pipeline.open(
      { ...caller, signal, tokenStatus, requestId },
      {
        summary: this.summary,
        takesEvents: true,
        partsFormat: 'deferSpec',
        headers,
        reportsEnd: (error) => {
          const code = tokenEndOf(error);
          // Clients that multiplex users, or cannot read a close code, ask for an event with the error.
          if (code === null || onTokenEnd === 'error') return false;
          closeSocket(code);
          return true;
        },
      },
      sent,
    );
    return this.#opened.operation;
  }

  /** Executes the opened operation. */
  async start(): Promise<Answer> {
    const answer = await this.#ready.start();
    const { outcome, type } = this.summary;
    const isEvents = Symbol.asyncIterator in answer && type === 'subscription';
    if (isEvents && outcome === 'ok') this.summary.started(null);
    return answer;
  }

  sendableNow(result: ExecutionResult): ExecutionResult | null {
    return sendableNow(result, this.#ready.operation);
  }

  get #ready(): OpenedOperation {
    if (this.#opened === null) throw new Error('the operation has not been opened');
    return this.#opened;
  }

  /** Stops the reads of a client that has disconnected. A write is completed. */
  leave(): void {
    this.#leaving.abort();
  }
}
