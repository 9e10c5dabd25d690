import type { ExecutionResult, FormattedExecutionResult, GraphQLError } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { mayBeMutation } from '../admission/operation.ts';
import type { Subscribed } from '../execution/event-results.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import { markNotSent, type Refusal, requestError } from '../operation/errors.ts';
import type { LiveResults } from '../operation/live-results.ts';
import { RequestSummary, requestIdOf } from '../operation/request-summary.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { SocketSession } from './socket-session.ts';

/** The close codes and reasons that this server adds to those of graphql-ws and `ws`. */
export const CLOSINGS = {
  header: [CloseCode.BadRequest, 'A header of connectionParams cannot be forwarded'],
  rate: [1013, 'Too many messages'],
  /** The reason is the error's code. */
  tokenEnd: [CloseCode.Forbidden, 'UNAUTHENTICATED'],
  sameId: [CloseCode.SubscriberAlreadyExists, 'An operation with this id is under way'],
  restart: [1012, 'restarting'],
  fault: [CloseCode.InternalServerError, 'Internal server error'],
} as const satisfies Readonly<Record<string, readonly [code: number, reason: string]>>;

export type Closing = keyof typeof CLOSINGS;

/** The socket of an operation. */
export interface OperationOwner {
  readonly settings: ServerSettings;
  readonly session: SocketSession;
  readonly isOpen: boolean;
  close(closing: Closing, reason?: string): void;
  /** The next message has a result of this operation. */
  writes(operation: SocketOperation): void;
  ended(operation: SocketOperation): void;
}

/** One operation of a WebSocket, from its `subscribe` until its last message has been handed over. */
export class SocketOperation {
  readonly id: string;
  readonly summary: RequestSummary;
  readonly #owner: OperationOwner;
  /** Aborts when the client has disconnected. */
  readonly #leaving = new AbortController();
  #live: LiveResults | null = null;

  constructor(id: string, owner: OperationOwner) {
    this.id = id;
    this.#owner = owner;
    this.summary = new RequestSummary({
      requestId: requestIdOf(owner.session.requestId),
      transport: 'websocket',
      method: null,
      client: owner.session.naming,
    });
  }

  /** Whether its client waits for the operation's answer. A shutdown does not wait for subscriptions. */
  get isAwaited(): boolean {
    return this.summary.type !== 'subscription' && !this.summary.hasEnded;
  }

  /** Opens the operation. Returns the errors if it is refused, or if the service fails. */
  async open(payload: object): Promise<OpenedOperation | readonly GraphQLError[]> {
    try {
      const opened = await this.#admit(payload);
      if (opened.kind === 'opened') return opened;
      this.end(false);
      return opened.errors;
    } catch (error) {
      return this.#fail(error);
    }
  }

  #admit(payload: object): MaybePromise<OpenedOperation | Refusal> {
    const { session, settings } = this.#owner;
    const { graph, tokenEndOf, tokenStatusOf } = settings;
    const { caller, headers, onTokenEnd } = session;
    const { requestId } = this.summary;
    const { signal } = this.#leaving;
    return graph.open(
      { ...caller, signal, tokenStatus: tokenStatusOf(caller.token), requestId },
      {
        sent: payload,
        record: this.summary,
        mayMutate: true,
        takesEvents: true,
        partsFormat: 'deferSpec',
        headers,
        reportsEnd: (error) => {
          const code = tokenEndOf(error);
          // Clients that multiplex users, or cannot read a close code, ask for an event with the error.
          if (code === null || onTokenEnd === 'error') return false;
          this.#owner.close('tokenEnd', code);
          return true;
        },
      },
    );
  }

  async start({ operation, start }: OpenedOperation): Promise<Subscribed> {
    try {
      const outcome = await start();
      this.#live = operation.live;
      if (Symbol.asyncIterator in outcome) {
        const { outcome: until, type } = this.summary;
        if (type === 'subscription' && until === 'ok') this.summary.started(null);
      }
      return outcome;
    } catch (error) {
      return { errors: this.#fail(error) };
    }
  }

  #fail(error: unknown): readonly GraphQLError[] {
    const { requestId } = this.summary;
    this.summary.failed('INTERNAL', 'fault');
    this.#owner.settings.log.error({ requestId, err: error }, 'an operation of a WebSocket failed');
    this.end(false);
    this.#owner.close('fault');
    return [requestError('INTERNAL', 'Something went wrong here.', { requestId })];
  }

  /** Returns what is sent for a result. The token is looked at as the message is written, in the same turn. */
  payloadOf(result: ExecutionResult): FormattedExecutionResult {
    const live = this.#live;
    const toJSON = () => {
      this.#owner.writes(this);
      return (live === null ? result : live.checked(result)) ?? {};
    };
    return { toJSON } as FormattedExecutionResult;
  }

  /** Refuses an operation before anything is executed. */
  refuse(error: GraphQLError, payload: object): readonly GraphQLError[] {
    if (mayBeMutation({ record: this.summary, sent: payload })) markNotSent([error]);
    this.#owner.settings.graph.codes.refused([error], this.summary);
    this.end(false);
    return [error];
  }

  /** Stops the reads of a client that has disconnected. A write is completed. */
  leave(): void {
    this.#leaving.abort();
  }

  /** `isLeft`: whether the client has unsubscribed. A subscription that had started ends in that way. */
  end(isLeft: boolean): void {
    const { isOpen, session, settings } = this.#owner;
    const isGone = isLeft || !isOpen;
    if (isGone && !this.summary.hasStarted) this.summary.outcome = 'gone';
    settings.accessLog.ended(this.summary, session.caller, null);
    this.#owner.ended(this);
  }
}
