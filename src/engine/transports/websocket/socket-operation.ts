import type { ExecutionArgs, GraphQLError } from 'graphql';
import { MessageType } from 'graphql-ws';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { Subscribed } from '../../execution/event-results.ts';
import { asGraphQLError } from '../../operation/error-masking.ts';
import { markNotSent, type Refusal } from '../../operation/refusal.ts';
import { RequestSummary } from '../../operation/request-summary.ts';
import type { JsonText, OperationEvents, ResultSink } from '../../operation/result-sink.ts';
import { mayBeMutation } from '../../operation/transport-context.ts';
import type { OpenedOperation } from '../../pipeline/pipeline.ts';
import type { Closing } from '../connections/closings.ts';
import { requestIdOf } from '../requests/request-id.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { SocketSession } from './socket-session.ts';

/** The socket of an operation. */
export interface OperationOwner {
  readonly settings: ServerSettings;
  readonly session: SocketSession;
  readonly isOpen: boolean;
  close(closing: Closing, reason: string): void;
  closeIfIdle(): void;
  /** Call it when an operation is over. It may be called more than once. */
  ended(operation: SocketOperation): void;
  hasRoom(ready: () => void): boolean;
  send(message: string | Buffer, done: () => void): void;
}

/** Ends an operation with an `error` message. */
class OperationFailure extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('the operation has failed');
    this.errors = errors;
  }
}

/** Unwraps the errors that have ended an operation: the protocol has wrapped them into one error. */
export function errorsOf(errors: readonly GraphQLError[]) {
  const cause = errors[0]?.cause;
  return cause instanceof OperationFailure ? cause.errors.map((each) => each.toJSON()) : undefined;
}

/** One operation of a WebSocket, from its `subscribe` to its `complete` or `error`. */
export class SocketOperation implements ResultSink {
  readonly id: string;
  /** The id that the protocol sees: a number, a colon and the client's id. */
  readonly protocolId: string;
  readonly summary: RequestSummary;
  readonly #socket: OperationOwner;
  /** Aborts when the client has unsubscribed or disconnected. */
  readonly #leaving = new AbortController();
  /** The beginning of each message with a result. */
  readonly #head: string;
  #opened: OpenedOperation | null = null;
  #events: OperationEvents | null = null;
  /** The error that ended the client's token, if the client wants to receive it in place of a close of the socket. */
  #tokenEnd: unknown = null;

  constructor(protocolId: string, socket: OperationOwner) {
    this.protocolId = protocolId;
    this.id = protocolId.slice(protocolId.indexOf(':') + 1);
    this.#socket = socket;
    this.#head = `{"id":${JSON.stringify(this.id)},"type":"${MessageType.Next}","payload":`;
    this.summary = new RequestSummary({
      requestId: requestIdOf(socket.session.requestId),
      transport: 'websocket',
      method: null,
      client: socket.session.naming,
    });
  }

  get isLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Whether a shutdown waits for the operation's answer. A shutdown does not wait for subscriptions. */
  get isAwaited(): boolean {
    return this.summary.type !== 'subscription' && !this.summary.hasEnded;
  }

  /** Returns what the protocol executes, or the errors that it sends. */
  async open(payload: object): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { schema } = this.#socket.settings.graph;
    const opened = await this.#admit({ ...payload });
    // Frees the text: the protocol retains the message until the operation is over.
    Object.assign(payload, { query: '', variables: null, extensions: null });
    if (opened.kind === 'refusal') {
      this.#end();
      return opened.errors;
    }
    this.#opened = opened;
    const { document, params } = opened.operation;
    const { operationName } = params;
    return { schema, document: document.document, operationName, rootValue: this };
  }

  /** Executes the operation. The iterator yields nothing to the protocol, and ends when all results have been sent. */
  async start(): Promise<AsyncGenerator<never, void>> {
    const socket = this.#socket;
    const { operation, start } = this.#opened as OpenedOperation;
    this.#opened = null;
    const executed = await start();
    if (Symbol.asyncIterator in executed) {
      const { outcome, type } = this.summary;
      if (type === 'subscription' && outcome === 'ok') this.summary.started(null);
      this.#events = operation.events;
    }
    // A shutdown does not wait for subscriptions.
    socket.closeIfIdle();
    if (this.isLeft) {
      this.#events?.leave();
      this.#end();
    }
    return this.#deliver(executed);
  }

  async *#deliver(outcome: Subscribed): AsyncGenerator<never, void> {
    if (Symbol.asyncIterator in outcome) await this.#follow();
    else if (this.#tokenEnd !== null && outcome.errors !== undefined) this.#fail(outcome.errors);
    else {
      await new Promise<void>((done) => this.send(JSON.stringify(outcome), done));
    }
    if (this.#tokenEnd !== null) {
      const { codes } = this.#socket.settings.graph;
      this.#fail(codes.masked([asGraphQLError(this.#tokenEnd)], this.summary));
    }
    this.#end();
    // A generator has to contain a `yield`; this one yields nothing.
    yield* [];
  }

  /** Sends the results of a subscription until it ends. */
  async #follow(): Promise<void> {
    try {
      await this.#events?.deliver(this);
    } catch (error) {
      this.#fail(this.#socket.settings.graph.codes.masked([asGraphQLError(error)], this.summary));
    }
  }

  /** Throws the errors, which the protocol sends as an `error` message. */
  #fail(errors: readonly GraphQLError[]): void {
    this.#end();
    if (!this.isLeft) throw new OperationFailure(errors);
  }

  /** Refuses an operation before anything is executed. */
  async refuse(error: GraphQLError, payload: object): Promise<readonly GraphQLError[]> {
    if (mayBeMutation({ record: this.summary, sent: payload })) markNotSent([error]);
    this.#socket.settings.graph.codes.refused([error], this.summary);
    this.#end();
    return [error];
  }

  /** Ends a subscription, stops reads, and sends nothing more. A write is completed. */
  leave(): void {
    this.#leaving.abort();
    // A shutdown does not wait for a query that has been stopped.
    if (this.summary.type === 'query') this.#end();
    if (this.summary.type === 'subscription') this.#socket.ended(this);
    this.#events?.leave();
  }

  failed(): void {
    this.summary.failed('INTERNAL', 'fault');
    this.#end();
  }

  hasRoom(ready: () => void): boolean {
    return this.#socket.hasRoom(ready);
  }

  send(result: JsonText, done: () => void): void {
    if (this.isLeft) {
      done();
      return;
    }
    const message = `${this.#head}${result}}`;
    this.summary.sent(message.length);
    this.#socket.send(message, done);
  }

  #admit(payload: object): MaybePromise<OpenedOperation | Refusal> {
    const socket = this.#socket;
    const { graph, tokenStatusOf, tokenEndOf } = socket.settings;
    const { summary } = this;
    const { caller, onTokenEnd } = socket.session;
    const { requestId } = summary;
    const { signal } = this.#leaving;
    return graph.open(
      { ...caller, signal, tokenStatus: tokenStatusOf(caller.token), requestId },
      {
        sent: payload,
        record: summary,
        mayMutate: true,
        takesEvents: true,
        partsFormat: 'deferSpec',
        headers: socket.session.headers,
        reportsEnd: (error) => {
          const code = tokenEndOf(error);
          if (code === null) return false;
          // After an `error` message client libraries end the subscription for good instead of reconnecting. So only clients
          // that ask for the message get it: they multiplex users, or cannot read a close code.
          if (onTokenEnd === 'error') this.#tokenEnd = error;
          else socket.close('tokenEnd', code);
          return true;
        },
      },
    );
  }

  /** An operation that its client has left counts as gone. A subscription that had started does not. */
  #end(): void {
    const { summary } = this;
    const { isOpen, session, settings } = this.#socket;
    // Reads that were stopped for a client that left have errors, which are not faults.
    if (this.isLeft && !summary.hasStarted) summary.outcome = 'gone';
    else if (!isOpen && summary.type !== 'subscription') summary.worsen('gone');
    settings.accessLog.ended(summary, session.caller, null);
    this.#socket.ended(this);
  }
}
