import type { ExecutionResult, GraphQLError } from 'graphql';
import { MessageType } from 'graphql-ws';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { OpenedOperation } from '../../execution/execution.ts';
import { jsonText } from '../../execution/json-text.ts';
import { asGraphQLError } from '../../operation/error-codes.ts';
import { OverLimitError } from '../../operation/over-limit-error.ts';
import type { Refusal } from '../../operation/refusal.ts';
import { RequestSummary } from '../../operation/request-summary.ts';
import type { EventText, ResultSink } from '../../operation/result-sink.ts';
import { requestIdOf } from '../requests/request-id.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { Connection } from './connection.ts';
import { FrameWriter } from './frame-writer.ts';

type OperationSettings = Pick<
  ServerSettings,
  'accessLog' | 'graph' | 'standingOf' | 'tokenEndOf' | 'tracing'
>;

/** The results of a subscription, as its transport iterates them: ours bypass the iterator. */
type Results = AsyncIterableIterator<ExecutionResult>;

/** One operation of a WebSocket, from its `subscribe` to its `complete` or `error`. */
export class SocketOperation implements ResultSink {
  readonly id: string;
  readonly summary: RequestSummary;
  readonly takesPacked: boolean;
  readonly #connection: Connection;
  readonly #settings: OperationSettings;
  /** Aborted once its client has unsubscribed, or has left. */
  readonly #leaving = new AbortController();
  #results: Results | null = null;
  /** The error with which its token has ended, where its client wants to be sent that instead of a closed socket. */
  #tokenEnd: unknown = null;
  #frames: FrameWriter | null = null;
  #taken: (() => void) | null = null;
  readonly #flushed = () => {
    this.#connection.unread.measure();
    this.#taken?.();
  };

  constructor(id: string, bytesIn: number, connection: Connection, settings: OperationSettings) {
    this.id = id;
    this.summary = new RequestSummary({
      requestId: requestIdOf(connection.requestId),
      transport: 'websocket',
      method: null,
      client: connection.client,
      bytesIn,
      trace: null,
    });
    this.takesPacked = connection.takesPacked;
    this.#connection = connection;
    this.#settings = settings;
  }

  get #isLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Whether a shutdown waits for its answer. Nobody waits for the end of a subscription. */
  get isAwaited(): boolean {
    return this.summary.type !== 'subscription' && !this.summary.hasEnded;
  }

  /** Executes the operation. Returns a subscription's results, or null where it is answered; rejects with a server's fault. */
  async begin(payload: object): Promise<Results | null> {
    const connection = this.#connection;
    const { accessLog } = this.#settings;
    await connection.room();
    if (!connection.isOpen) {
      this.refuse(new OverLimitError('unread answers'));
      return null;
    }
    const opened = await this.#open(payload);
    if ('errors' in opened) {
      this.#fail(opened.errors);
      return null;
    }
    if (this.#isLeft && this.summary.type === 'query') {
      this.#end();
      return null;
    }
    const outcome = await opened.start();
    // It may have proved its token, so the socket's account is known now.
    connection.claim();
    if ('isWellFormed' in outcome || (this.#tokenEnd !== null && 'errors' in outcome)) {
      this.#fail(outcome.errors ?? []);
      return null;
    }
    const { events, meter } = opened.operation;
    if (Symbol.asyncIterator in outcome) {
      const isFollowed = this.summary.type === 'subscription' && this.summary.outcome === 'ok';
      if (isFollowed) accessLog.subscribed(this.summary, connection.caller);
      return events === null ? (outcome as Results) : events.deliver(this, outcome);
    }
    await this.#send(await jsonText(outcome, meter));
    this.#complete();
    return null;
  }

  /** Sends the results of a subscription until there are no more. */
  async follow(results: Results): Promise<void> {
    this.#results = results;
    if (this.#isLeft) await this.leave();
    try {
      // Ours go to `send`; those of another plugin's own come by the iterator.
      for await (const result of results) await this.#send(JSON.stringify(result));
    } catch (error) {
      this.#fail(this.#settings.graph.codes.refusal(error, this.summary).errors);
      return;
    }
    this.#complete();
  }

  /** Answers an operation of which nothing is executed. */
  refuse(error: GraphQLError): void {
    this.#settings.graph.codes.refused([error], this.summary);
    this.#fail([error]);
  }

  /** Ends a subscription, stops what is read, and has nothing more sent; a write is made to its end. */
  async leave(): Promise<void> {
    this.#leaving.abort();
    // A shutdown waits for no query that stops.
    if (this.summary.type === 'query') this.#end();
    await this.#results?.return?.();
  }

  /** Notes that the server has failed at it. */
  failed(): void {
    this.summary.failed('INTERNAL', 'fault');
    this.#end();
  }

  hasRoom(ready: () => void): boolean {
    return this.#connection.unread.hasRoom(ready);
  }

  send(result: EventText, taken: () => void): void {
    const connection = this.#connection;
    if (this.#isLeft || !connection.isOpen) {
      taken();
      return;
    }
    this.#frames ??= this.#newFrames();
    this.#taken = taken;
    this.summary.sent(this.#frames.write(result, this.#flushed));
    if (this.summary.type === 'subscription') connection.keepAlive.sentEvent(connection);
    connection.unread.measure();
  }

  #newFrames(): FrameWriter {
    const head = `{"id":${JSON.stringify(this.id)},"type":"${MessageType.Next}","payload":`;
    return new FrameWriter(this.#connection.stream, head);
  }

  #open(payload: object): MaybePromise<OpenedOperation | Refusal> {
    const connection = this.#connection;
    const { graph, standingOf, tokenEndOf, tracing } = this.#settings;
    const { summary } = this;
    const { caller } = connection;
    // The trace of the upgrade is linked: continued, it would grow for as long as the socket lives.
    const { traceHeaders: headers, forwardedTrace: trace } = connection;
    const { requestId } = summary;
    const { signal } = this.#leaving;
    summary.trace = tracing?.receive({ headers, isContinued: false, span: null }) ?? null;
    return graph.open(
      { ...caller, signal, standing: standingOf(caller.token), requestId, trace },
      {
        sent: payload,
        record: summary,
        mayMutate: true,
        takesEvents: true,
        partsFormat: connection.partsFormat,
        takesBytes: false,
        isOver: false,
        ifNoneMatch: undefined,
        headers: connection.headers,
        reportsEnd: (error) => {
          const code = tokenEndOf(error);
          if (code === null) return false;
          // After an `error` message client libraries end the subscription for good instead of reconnecting: it is for
          // those who ask for it, since they multiplex users or cannot see a close code.
          if (connection.onTokenEnd === 'error') this.#tokenEnd = error;
          else connection.close('tokenEnd', code);
          return true;
        },
        toRequest: undefined,
      },
    );
  }

  #send(text: EventText): Promise<void> | undefined {
    return this.#isLeft ? undefined : new Promise((taken) => this.send(text, taken));
  }

  #complete(): void {
    if (this.#tokenEnd !== null) {
      const { codes } = this.#settings.graph;
      this.#fail(codes.masked([asGraphQLError(this.#tokenEnd)], this.summary));
      return;
    }
    if (!this.#isLeft) this.#connection.say({ id: this.id, type: MessageType.Complete });
    this.#end();
  }

  #fail(payload: readonly GraphQLError[]): void {
    if (!this.#isLeft) this.#connection.say({ id: this.id, type: MessageType.Error, payload });
    this.#end();
  }

  /** A client that has left had no answer, unless it was a subscription's. */
  #end(): void {
    const { summary } = this;
    const { isOpen, caller } = this.#connection;
    // The errors of reads that stopped, those of a mutation's answer too, are nobody's fault.
    if (this.#isLeft && !summary.hasStarted) summary.outcome = 'gone';
    else if (!isOpen && summary.type !== 'subscription') summary.worsen('gone');
    this.#settings.accessLog.ended(summary, caller, null);
  }
}
