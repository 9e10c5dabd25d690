import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { MessageType } from 'graphql-ws';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { Meter } from '../../documents/meter.ts';
import type { Subscribed } from '../../execution/begin-events.ts';
import { jsonText } from '../../execution/json-text.ts';
import { asGraphQLError } from '../../operation/error-codes.ts';
import { OverLimitError } from '../../operation/over-limit-error.ts';
import { isRefusal, markNotSent, type Refusal } from '../../operation/refusal.ts';
import { RequestSummary } from '../../operation/request-summary.ts';
import {
  type Delivery,
  type EventText,
  OVER,
  type Over,
  type ResultSink,
} from '../../operation/result-sink.ts';
import { mayBeMutation } from '../../operation/transport-context.ts';
import type { OpenedOperation } from '../../plugins/plugin-view.ts';
import { requestIdOf } from '../requests/request-id.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { Connection } from './connection.ts';
import { FrameWriter } from './frame-writer.ts';

type OperationSettings = Pick<
  ServerSettings,
  'accessLog' | 'graph' | 'standingOf' | 'tokenEndOf' | 'tracing'
>;

/** The socket of an operation. */
export interface OperationOwner {
  readonly connection: Connection;
  closeIfIdle(): void;
  /** Called when it is over, perhaps more than once. */
  ended(operation: SocketOperation): void;
}

const NOTHING: ExecutionResult = {};

/** Ends an operation with an `error` message. */
class OperationFailure extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('the operation has failed');
    this.errors = errors;
  }
}

/** The errors with which an operation has ended, which the protocol has wrapped into one. */
export function errorsOf(errors: readonly GraphQLError[]) {
  const cause = errors[0]?.cause;
  return cause instanceof OperationFailure ? cause.errors.map((each) => each.toJSON()) : undefined;
}

/** One operation of a WebSocket, from its `subscribe` to its `complete` or `error`. */
export class SocketOperation implements ResultSink {
  /** Its client's name for it. */
  readonly id: string;
  /** The protocol's. */
  readonly ownId: string;
  readonly summary: RequestSummary;
  readonly takesPacked: boolean;
  readonly #owner: OperationOwner;
  readonly #connection: Connection;
  readonly #settings: OperationSettings;
  /** Aborted once its client has unsubscribed, or has left. */
  readonly #leaving = new AbortController();
  #opened: OpenedOperation | null = null;
  #results: Delivery | null = null;
  /** The error with which its token has ended, where its client wants to be sent that instead of a closed socket. */
  #tokenEnd: unknown = null;
  #frames: FrameWriter | null = null;
  #taken: (() => void) | null = null;
  readonly #flushed = () => {
    this.#connection.unread.measure();
    this.#taken?.();
  };

  /** `ownId` ends with the client's, behind a colon. */
  constructor(ownId: string, bytesIn: number, owner: OperationOwner, settings: OperationSettings) {
    const { connection } = owner;
    this.id = ownId.slice(ownId.indexOf(':') + 1);
    this.ownId = ownId;
    this.#owner = owner;
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

  get isLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Whether a shutdown waits for its answer. Nobody waits for the end of a subscription. */
  get isAwaited(): boolean {
    return this.summary.type !== 'subscription' && !this.summary.hasEnded;
  }

  /** Returns what the protocol executes, or the errors that it sends. */
  async open(payload: object): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const connection = this.#connection;
    const { schema } = this.#settings.graph;
    await connection.room();
    if (!connection.isOpen) return this.refuse(new OverLimitError('unread answers'), payload);
    const opened = await this.#admit({ ...payload });
    // The protocol retains the message until the operation is over.
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

  /** Executes it, and returns what the protocol iterates: it has one step, which ends when all results are sent. */
  async start(): Promise<Delivery> {
    const connection = this.#connection;
    const { operation, start } = this.#opened as OpenedOperation;
    const { meter } = operation;
    this.#opened = null;
    const isStopped = this.isLeft && this.summary.type === 'query';
    const outcome = isStopped ? NOTHING : await start();
    // It may have proved its token, so the socket's account is known now.
    connection.claim();
    if (Symbol.asyncIterator in outcome) {
      const isFollowed = this.summary.type === 'subscription' && this.summary.outcome === 'ok';
      if (isFollowed) this.#settings.accessLog.subscribed(this.summary, connection.caller);
      this.#results = operation.events?.deliver(this) ?? null;
    }
    // A shutdown waits for no subscription.
    this.#owner.closeIfIdle();
    if (this.isLeft) {
      await this.#results?.return();
      this.#end();
    }
    return deliveryOf(() => this.#deliver(outcome, meter));
  }

  async #deliver(outcome: Subscribed | Refusal, meter: Meter): Promise<Over> {
    if (Symbol.asyncIterator in outcome) await this.#follow();
    else if (isRefusal(outcome) || (this.#tokenEnd !== null && outcome.errors !== undefined))
      this.#fail(outcome.errors ?? []);
    else await this.#send(await jsonText(outcome, meter));
    if (this.#tokenEnd !== null) {
      const { codes } = this.#settings.graph;
      this.#fail(codes.masked([asGraphQLError(this.#tokenEnd)], this.summary));
    }
    this.#end();
    return OVER;
  }

  /** Sends the results of a subscription until there are no more. */
  async #follow(): Promise<void> {
    try {
      await this.#results?.next();
    } catch (error) {
      this.#fail(this.#settings.graph.codes.refusal(error, this.summary).errors);
    }
  }

  /** The protocol sends it as an `error` message. */
  #fail(errors: readonly GraphQLError[]): void {
    this.#end();
    if (!this.isLeft) throw new OperationFailure(errors);
  }

  /** Answers an operation of which nothing is executed. */
  async refuse(error: GraphQLError, payload: object): Promise<readonly GraphQLError[]> {
    if (mayBeMutation({ record: this.summary, sent: payload })) markNotSent([error]);
    this.#settings.graph.codes.refused([error], this.summary);
    this.#end();
    return [error];
  }

  /** Ends a subscription, stops what is read, and has nothing more sent; a write is made to its end. */
  leave(): void {
    this.#leaving.abort();
    // A shutdown waits for no query that stops.
    if (this.summary.type === 'query') this.#end();
    // Another may come in the same flight.
    if (this.summary.type === 'subscription') this.#owner.ended(this);
    fireAndForget('response', this.#results?.return());
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
    if (this.isLeft || !connection.isOpen) {
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

  #admit(payload: object): MaybePromise<OpenedOperation | Refusal> {
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
    return this.isLeft ? undefined : new Promise((taken) => this.send(text, taken));
  }

  /** A client that has left had no answer, unless it was a subscription's. */
  #end(): void {
    const { summary } = this;
    const { isOpen, caller } = this.#connection;
    // The errors of reads that stopped, those of a mutation's answer too, are nobody's fault.
    if (this.isLeft && !summary.hasStarted) summary.outcome = 'gone';
    else if (!isOpen && summary.type !== 'subscription') summary.worsen('gone');
    this.#settings.accessLog.ended(summary, caller, null);
    this.#owner.ended(this);
  }
}

function deliveryOf(next: () => Promise<Over>): Delivery {
  const delivery: Delivery = {
    next,
    return: async () => OVER,
    [Symbol.asyncIterator]: () => delivery,
  };
  return delivery;
}
