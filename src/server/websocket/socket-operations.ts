import type { GraphQLError } from 'graphql';
import { makeServer, type WebSocket as ProtocolSocket } from 'graphql-ws';
import type { ClientKeys } from '../../domain/auth/client-key.ts';
import { OverLimitError } from '../../plugins/limits/over-limit-error.ts';
import { tooComplex } from '../../plugins/limits/structure.ts';
import { bearerToken } from '../request/bearer.ts';
import { CLIENT_NAME, CLIENT_VERSION } from '../request/client-names.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { socketOperation } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import type { Connection } from './connection.ts';
import { closesFor, OperationStarts } from './operation-starts.ts';
import { PacedResults } from './paced-socket.ts';

export interface OperationSettings extends ServerSettings {
  readonly clients: ClientKeys;
  /** The limit of in-flight operations on one socket, subscriptions included. */
  readonly maxOperations: number;
}

const TRY_AGAIN_LATER = 1013;
const TOO_MANY_RETRY_SECONDS = 5;
const INIT_TIMEOUT_MS = 3_000;
// The limit of an HTTP request's headers.
const LONGEST_AUTHORIZATION = 16_384;
const LONGEST_ID = 255;

/** The operations of all sockets: graphql-ws does the protocol, the graph opens what is subscribed. */
export class SocketOperations {
  readonly #settings: OperationSettings;
  /** Called when an answer other than a subscription's has been sent. */
  readonly #onAnswered: (connection: Connection) => void;
  readonly #starts = new OperationStarts();
  /** By the payload of its `subscribe` message, which no other operation has. */
  readonly #summaries = new WeakMap<object, RequestSummary>();

  constructor(settings: OperationSettings, onAnswered: (connection: Connection) => void) {
    this.#settings = settings;
    this.#onAnswered = onAnswered;
  }

  /** Serves the operations of a socket; call the result when the socket is closed. */
  serve(
    socket: ProtocolSocket,
    connection: Connection,
  ): (code?: number, reason?: string) => Promise<void> {
    return this.#protocol.opened(socket, connection);
  }

  readonly #protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (context) => {
      const { extra } = context;
      const params = context.connectionParams;
      const authorization = textIn(params, 'authorization');
      if (authorization.length > LONGEST_AUTHORIZATION) return false;
      const hashed = bearerToken(authorization);
      extra.paced.caller = { ...extra.paced.caller, token: hashed?.token ?? null, hashed };
      const { clientNames } = this.#settings;
      extra.client ??= clientNames.of(textIn(params, CLIENT_NAME), textIn(params, CLIENT_VERSION));
      // graphql-ws would retain the payload of `connection_init`, however large, for the socket's lifetime.
      Object.assign(context, { connectionParams: undefined });
      return true;
    },
    onSubscribe: async ({ extra, subscriptions }, id, payload) => {
      const summary = this.#begin(extra);
      extra.begun = summary;
      const refuse = (error: GraphQLError) => {
        this.#settings.graph.refused([error], summary);
        return this.#refused(summary, extra, [error]);
      };
      // The id is retained as long as its operation lasts.
      if (id.length > LONGEST_ID) {
        return refuse(tooComplex('characters of an id', id.length, LONGEST_ID));
      }
      const { maxOperations } = this.#settings;
      const open = Object.keys(subscriptions).length;
      if (open > maxOperations) {
        return refuse(tooComplex('operations of a socket', open, maxOperations));
      }
      if (!this.#claim(extra)) return refuse(tooMany('sockets'));
      extra.inFlight.add(id);
      await extra.paced.room();
      if (!extra.paced.isOpen) return refuse(tooMany('unread answers'));
      const { requestId } = summary;
      const trace = this.#settings.tracing?.receive(socketOperation(extra.traceHeaders)) ?? null;
      summary.trace = trace;
      const { graph } = this.#settings;
      const caller = { ...extra.paced.caller, requestId, trace: extra.forwarded };
      const context = graph.context(caller, {
        sent: payload,
        requestId,
        record: summary,
        mayMutate: true,
        takesEvents: true,
        requestTrace: trace,
        takesBytes: false,
        ifNoneMatch: undefined,
        reportsEnd: closesFor(extra.paced.socket),
        toRequest: undefined,
      });
      const opened = await graph.open(context);
      if ('errors' in opened || opened.type === 'subscription') this.#settled(extra, id);
      if ('errors' in opened) return this.#refused(summary, extra, opened.errors);
      extra.summaries.set(id, summary);
      this.#summaries.set(payload, summary);
      return this.#starts.prepare(opened, () => new PacedResults(extra.paced, id, summary));
    },
    execute: (args) => this.#starts.start(args),
    subscribe: (args) => this.#starts.start(args),
    onOperation: ({ extra }, _id, payload) => {
      // Starting a subscription proves its token, so the socket's account is known now.
      this.#claim(extra);
      const summary = this.#summaries.get(payload);
      if (summary?.type === 'subscription' && summary.outcome === 'ok') {
        this.#settings.accessLog.subscribed(summary, extra.paced.caller);
      }
    },
    onComplete: ({ extra }, id, payload) => {
      this.#settled(extra, id);
      this.#ended(extra, id, payload);
    },
    onError: ({ extra }, id, payload) => this.#ended(extra, id, payload),
  });

  #begin({ requestId, client, bytesIn }: Connection): RequestSummary {
    const { accessLog, requestIds } = this.#settings;
    return accessLog.begin({
      requestId: requestIds.from(requestId),
      transport: 'websocket',
      method: null,
      client,
      bytesIn,
    });
  }

  #refused(
    summary: RequestSummary,
    { paced }: Connection,
    errors: readonly GraphQLError[],
  ): readonly GraphQLError[] {
    this.#settings.accessLog.ended(summary, paced.caller, null);
    return errors;
  }

  /** A client that has left had no answer, unless it was a subscription's. */
  #ended({ summaries, paced }: Connection, id: string, payload: object): void {
    const summary = this.#summaries.get(payload);
    if (summary === undefined) return;
    // The client may have begun another operation under the same id.
    if (summaries.get(id) === summary) summaries.delete(id);
    if (!paced.isOpen && summary.type !== 'subscription') summary.worsen('gone');
    // The last message of the operation is sent in this turn of the event loop.
    setImmediate(() => this.#settings.accessLog.ended(summary, paced.caller, null));
  }

  #settled(connection: Connection, id: string): void {
    if (!connection.inFlight.delete(id)) return;
    // Deferred, so that the close follows the protocol's last message.
    setImmediate(() => this.#onAnswered(connection));
  }

  /** False where the account has too many sockets, and this one is closed. */
  #claim({ pass, socket, paced }: Connection): boolean {
    if (pass.isClaimed) return true;
    const { kind, key } = this.#settings.clients.of(paced.caller);
    if (kind !== 'account' || pass.claim(key)) return true;
    socket.close(TRY_AGAIN_LATER, 'Too many sockets');
    return false;
  }
}

function tooMany(limit: string): GraphQLError {
  return new OverLimitError({ limit, retryAfterSeconds: TOO_MANY_RETRY_SECONDS });
}

/** A text of `connectionParams`, or an empty one. Client libraries differ in the case of the key. */
function textIn(params: unknown, name: string): string {
  if (typeof params !== 'object' || params === null) return '';
  const entry = Object.entries(params).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}
