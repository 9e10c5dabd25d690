import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, makeServer, type WebSocket as ProtocolSocket } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { Operation } from '../admission/operation.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { EnvelopedOperation } from '../graph.ts';
import { OverLimitError } from '../limits/over-limit-error.ts';
import { tooComplex } from '../limits/structure.ts';
import type { ResultSink } from '../live/delivery.ts';
import type { Subscribed } from '../live/use-live-results.ts';
import { bearerToken } from '../request/bearer.ts';
import { CLIENT_NAME, CLIENT_VERSION } from '../request/client-names.ts';
import { RequestSummary } from '../request/request-summary.ts';
import { type JsonText, jsonText } from '../results/json-text.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type Connection, PacedResults } from './connection.ts';
import type { KeepAlive } from './keep-alive.ts';

/** The state of one socket, as graphql-ws carries it. */
type Extra = { readonly connection: Connection };

/** The limit of in-flight operations on one socket, subscriptions included. */
const MAX_OPERATIONS = 100;
const TRY_AGAIN_LATER = 1013;
const TOO_MANY_RETRY_SECONDS = 5;
const INIT_TIMEOUT_MS = 3_000;
// The limit of an HTTP request's headers.
const LONGEST_AUTHORIZATION = 16_384;
const LONGEST_ID = 255;

/** The operations of all sockets: graphql-ws does the protocol, the graph opens what is subscribed. */
export class SocketOperations {
  readonly #settings: ServerSettings;
  readonly #keepAlive: KeepAlive;
  readonly #answered: (connection: Connection) => void;
  /** The operations that graphql-ws has yet to start, by the arguments that it hands on. */
  readonly #starts = new WeakMap<ExecutionArgs, () => Eventually<Started>>();
  /** By the payload of its `subscribe` message, which no other operation has. */
  readonly #summaries = new WeakMap<object, RequestSummary>();

  /** Calls `answered` when the answer to an operation other than a subscription was sent. */
  constructor(
    settings: ServerSettings,
    keepAlive: KeepAlive,
    answered: (connection: Connection) => void,
  ) {
    this.#settings = settings;
    this.#keepAlive = keepAlive;
    this.#answered = answered;
  }

  /** Serves the operations of a socket; call the result when the socket is closed. */
  serve(
    socket: ProtocolSocket,
    connection: Connection,
  ): (code?: number, reason?: string) => Promise<void> {
    return this.#protocol.opened(socket, { connection });
  }

  readonly #protocol = makeServer<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: INIT_TIMEOUT_MS,
    onConnect: (context) => {
      const { connection } = context.extra;
      const params = context.connectionParams;
      const authorization = textIn(params, 'authorization');
      if (authorization.length > LONGEST_AUTHORIZATION) return false;
      connection.caller = { ...connection.caller, token: bearerToken(authorization) };
      connection.client ??= this.#settings.clientNames.of(
        textIn(params, CLIENT_NAME),
        textIn(params, CLIENT_VERSION),
      );
      // graphql-ws would retain the payload of `connection_init`, however large, for the socket's lifetime.
      Object.assign(context, { connectionParams: undefined });
      return true;
    },
    onSubscribe: async ({ extra: { connection }, subscriptions }, id, payload) => {
      const { accessLog, graph, tracing } = this.#settings;
      const summary = this.#begin(connection);
      connection.begun = summary;
      const ended = (errors: readonly GraphQLError[]) => {
        accessLog.ended(summary, connection.caller, null);
        return errors;
      };
      const refuse = (error: GraphQLError) => {
        graph.codes.refused([error], summary);
        return ended([error]);
      };
      // The id is retained as long as its operation lasts.
      if (id.length > LONGEST_ID) {
        return refuse(tooComplex('characters of an id', id.length, LONGEST_ID));
      }
      const open = Object.keys(subscriptions).length;
      if (open > MAX_OPERATIONS) {
        return refuse(tooComplex('operations of a socket', open, MAX_OPERATIONS));
      }
      if (!this.#claim(connection)) return refuse(tooMany('sockets'));
      connection.inFlight.add(id);
      await connection.room();
      if (!connection.isOpen) return refuse(tooMany('unread answers'));
      const { requestId } = summary;
      // The trace of the upgrade is linked: continued, it would grow for as long as the socket lives.
      const { traceHeaders: headers } = connection;
      summary.trace = tracing?.receive({ headers, isContinued: false, span: null }) ?? null;
      const caller = { ...connection.caller, requestId, trace: connection.forwarded };
      const context = graph.context(caller, {
        sent: payload,
        record: summary,
        mayMutate: true,
        takesEvents: true,
        takesBytes: false,
        isOver: false,
        ifNoneMatch: undefined,
        reportsEnd: closesFor(connection.socket, this.#settings.tokenEndOf),
        toRequest: undefined,
      });
      const opened = await graph.open(context);
      if ('errors' in opened || opened.type === 'subscription') this.#settled(connection, id);
      if ('errors' in opened) return ended(opened.errors);
      connection.summaries.set(id, summary);
      this.#summaries.set(payload, summary);
      const sent = () => this.#keepAlive.sentEvent(connection);
      const results = () => new PacedResults(connection, id, summary, sent);
      // graphql-ws references its arguments for as long as a subscription lasts, so they have no context.
      const { schema, document, operationName } = opened.args;
      const args: ExecutionArgs = { schema, document, operationName, contextValue: null };
      this.#starts.set(args, () => begin(opened, results));
      return args;
    },
    execute: (args) => this.#start(args),
    subscribe: (args) => this.#start(args),
    onOperation: ({ extra: { connection } }, _id, payload) => {
      // Starting a subscription proves its token, so the socket's account is known now.
      this.#claim(connection);
      const summary = this.#summaries.get(payload);
      if (summary?.type === 'subscription' && summary.outcome === 'ok') {
        this.#settings.accessLog.subscribed(summary, connection.caller);
      }
    },
    onComplete: ({ extra: { connection } }, id, payload) => this.#ended(connection, id, payload),
    onError: ({ extra: { connection } }, id, payload, errors) => {
      this.#ended(connection, id, payload);
      const cause = errors[0]?.cause;
      return cause instanceof AggregateError
        ? cause.errors.map((each) => each.toJSON())
        : undefined;
    },
  });

  #start(args: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
    const begin = this.#starts.get(args);
    if (begin === undefined) throw new Error('an operation is started once');
    this.#starts.delete(args);
    return begin() as Promise<ExecutionResult>;
  }

  #begin({ requestId, client, bytesIn }: Connection): RequestSummary {
    return new RequestSummary({
      requestId: this.#settings.requestIds.from(requestId),
      transport: 'websocket',
      method: null,
      client,
      bytesIn,
      trace: null,
    });
  }

  /** A client that has left had no answer, unless it was a subscription's. */
  #ended(connection: Connection, id: string, payload: object): void {
    this.#settled(connection, id);
    const { summaries } = connection;
    const summary = this.#summaries.get(payload);
    if (summary === undefined) return;
    // After an error comes the end.
    this.#summaries.delete(payload);
    // The client may have begun another operation under the same id.
    if (summaries.get(id) === summary) summaries.delete(id);
    if (!connection.isOpen && summary.type !== 'subscription') summary.worsen('gone');
    // The last message of the operation is sent in this turn of the event loop.
    setImmediate(() => this.#settings.accessLog.ended(summary, connection.caller, null));
  }

  #settled(connection: Connection, id: string): void {
    if (!connection.inFlight.delete(id)) return;
    // Deferred, so that the close follows the protocol's last message.
    setImmediate(() => this.#answered(connection));
  }

  /** False where the account has too many sockets, and this one is closed. */
  #claim({ slot, socket }: Connection): boolean {
    if (slot.settle()) return true;
    socket.close(TRY_AGAIN_LATER, 'Too many sockets');
    return false;
  }
}

function tooMany(limit: string): GraphQLError {
  return new OverLimitError(limit, TOO_MANY_RETRY_SECONDS);
}

/** A text of `connectionParams`, or an empty one. Client libraries differ in the case of the key. */
function textIn(params: unknown, name: string): string {
  if (typeof params !== 'object' || params === null) return '';
  const entry = Object.entries(params).find(([key]) => key.toLowerCase() === name);
  return typeof entry?.[1] === 'string' ? entry[1] : '';
}

type Started = Subscribed | AsyncGenerator<never>;

function begin(opened: EnvelopedOperation, results: () => ResultSink): Eventually<Started> {
  return after(opened.execute(), (settled) => handedOver(settled, opened.operation, results));
}

/**
 * Events bypass graphql-ws, which would serialize each one anew for each socket, and so do large
 * results, which it would serialize in one piece. The library handles the start, the end and the
 * client's messages.
 */
function handedOver(
  started: Started | Refusal,
  { meter, events }: Operation,
  results: () => ResultSink,
): Eventually<Started> {
  if ('isWellFormed' in started) return refusing(started);
  if (events !== null) return events.deliver(results(), started as AsyncIterable<never>);
  if (!meter.isCostly || Symbol.asyncIterator in started) return started;
  return sentInSlices(jsonText(started, meter), results);
}

async function sentInSlices(
  text: Eventually<JsonText>,
  results: () => ResultSink,
): Promise<AsyncGenerator<never>> {
  const written = await text;
  await new Promise<void>((left) => results().send(written, left));
  return nothingMore();
}

/** Hands errors to `onError`: graphql-ws sends those of an operation that it has begun only where it iterates. */
// biome-ignore lint/correctness/useYield: it fails instead
async function* refusing({ errors }: Refusal): AsyncGenerator<never> {
  throw new AggregateError(errors);
}

async function* nothingMore(): AsyncGenerator<never> {}

/**
 * A token that has ended is signalled by the close code alone: after an `error` message client
 * libraries would end the subscription for good instead of reconnecting.
 */
function closesFor(
  socket: WebSocket,
  tokenEndOf: (error: unknown) => string | null,
): (error: unknown) => boolean {
  return (error) => {
    const reason = tokenEndOf(error);
    if (reason !== null) socket.close(CloseCode.Forbidden, reason);
    return reason !== null;
  };
}
