import type {
  ExecutionArgs,
  ExecutionResult,
  FormattedExecutionResult,
  GraphQLError,
} from 'graphql';
import { type ConnectionInitMessage, type Context, MessageType, makeServer } from 'graphql-ws';
import { isObject, parseExactJson } from '../../lib/json.ts';
import { mayBeMutation } from '../admission/admission.ts';
import type { TransportContext } from '../admission/operation.ts';
import { Refusal, refusal, tooComplex } from '../core/errors.ts';
import { RequestSummary } from '../core/request-summary.ts';
import { type Answer, ResultIterator } from '../core/result-iterator.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import type { GraphQLSocket, SocketOperation } from './graphql-socket.ts';

type SocketContext = Context<ConnectionInitMessage['payload'], GraphQLSocket>;

/** The limit of in-flight operations on one socket, subscriptions included. Those that the client has left do not count. */
const MAX_OPERATIONS = 100;

/**
 * graphql-ws's protocol for all sockets. It awaits each message before it asks for the next event, so a slow client holds
 * one event. Its adapter for `ws` is not used: that prints what clients do wrong, and rounds numbers.
 */
const PROTOCOL = makeServer<ConnectionInitMessage['payload'], GraphQLSocket>({
  onConnect(context) {
    const { extra: socket, connectionParams } = context;
    // The context must not retain the token.
    delete (context as { connectionParams?: unknown }).connectionParams;
    if (!socket.session.initialize(connectionParams)) socket.close('header');
  },
  onSubscribe: open,
  execute: start,
  subscribe: start,
  onNext({ extra: socket }, _id, _payload, { rootValue }, result) {
    const operation = rootValue as SocketOperation;
    // The protocol writes the message in the turn in which it calls `toJSON`.
    const toJSON = () => {
      const { answer } = operation;
      socket.writes(operation);
      if (!(answer instanceof ResultIterator)) return result;
      // If nothing is to be sent, the socket is closed already.
      return answer.unlessFailed(result as ExecutionResult) ?? {};
    };
    return { toJSON } as FormattedExecutionResult;
  },
  onComplete({ extra: socket, subscriptions }, id) {
    const operation = socket.operations.get(id);
    if (operation) socket.end(operation, !(id in subscriptions));
  },
});

/** Serves the protocol to a socket until it closes. */
export function serveProtocol(socket: GraphQLSocket): void {
  // The type of the listener allows only texts. The protocol also accepts parsed messages, and validates them.
  let handle: (message: unknown) => Promise<void> = async () => {};
  const closed = PROTOCOL.opened(
    {
      protocol: socket.subprotocol,
      send: (text) => socket.send(text),
      close: (code = 1000, reason = '') => socket.closeWith(code, reason),
      onMessage(listener) {
        handle = listener as typeof handle;
      },
    },
    socket,
  );
  socket.listen(
    (text) => handle(readMessage(text)),
    async (code, reason) => closed(code, reason),
  );
}

/** An id is retained until its operation ends, and sent with each result. */
const MAX_ID_LENGTH = 255;
const CLIENT_MESSAGES: ReadonlySet<unknown> = new Set([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

/** Parses a message without rounding its numbers. Null if no client may send it; the protocol then closes the socket. */
function readMessage(text: string): unknown {
  try {
    const message = parseExactJson(text);
    if (!isObject(message) || !CLIENT_MESSAGES.has(message.type)) return null;
    const { id, type, payload } = message;
    if (typeof id === 'string' && id.length > MAX_ID_LENGTH) return null;
    // graphql-ws requires a text in each operation, but a document id may replace it.
    if (type === MessageType.Subscribe && isObject(payload)) payload.query ??= '';
    return message;
  } catch {
    return null;
  }
}

async function open(
  { extra: socket, subscriptions }: SocketContext,
  id: string,
  payload: object,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const { session, services } = socket;
  const summary = new RequestSummary(session.requestId, null, session.naming);
  summary.mayBeMutation = mayBeMutation(payload);
  const leaving = new AbortController();
  const operation: SocketOperation = { id, summary, leaving, start: null, answer: null };
  try {
    // An operation that its client has left runs on. The protocol would take its end for the end of the new one.
    if (socket.operations.has(id)) {
      socket.close('sameId');
      throw refusal('BAD_USER_INPUT', 'An operation with this id is under way.');
    }
    const count = Object.keys(subscriptions).length;
    if (count > MAX_OPERATIONS) {
      throw new Refusal([tooComplex('operations of a socket', count, MAX_OPERATIONS)]);
    }
    socket.operations.set(id, operation);
    const opened = await openWithin(socket, operation, { ...payload });
    operation.start = opened.start;
    const { document, params } = opened.operation;
    return {
      schema: services.schema,
      document: document.document,
      operationName: params.operationName,
      // The protocol passes it on to `start` and `onNext`.
      rootValue: operation,
    };
  } catch (error) {
    const { errors } = services.masking.refusal(error, summary);
    socket.end(operation, false);
    return errors;
  } finally {
    // Frees the text: the protocol retains the message until the operation is over.
    Object.assign(payload, { query: '', variables: null, extensions: null });
  }
}

/** Opens an operation with the identity of its socket. Throws a Refusal. */
function openWithin(
  socket: GraphQLSocket,
  { summary, leaving }: SocketOperation,
  sent: object,
): Promise<OpenedOperation> {
  const { pipeline, tokenEndOf, tokenStatusOf } = socket.services;
  const { caller, headers, onTokenEnd } = socket.session;
  const { requestId } = summary;
  const { signal } = leaving;
  const tokenStatus = tokenStatusOf(caller.token);
  const transport: TransportContext = {
    summary,
    takesEvents: true,
    partsFormat: 'deferSpec',
    headers,
    responseHeaders: null,
    reportsEnd(error) {
      const reason = tokenEndOf(error);
      // Clients that multiplex users, or cannot read a close code, ask for an event with the error.
      if (reason === null || onTokenEnd === 'error') return false;
      socket.close('tokenEnd', reason);
      return true;
    },
  };
  return pipeline.open({ ...caller, signal, tokenStatus, requestId }, transport, sent);
}

async function start({ rootValue }: ExecutionArgs): Promise<Answer> {
  const operation = rootValue as SocketOperation;
  const { start: execute, summary } = operation;
  if (execute === null) throw new Error('the operation has not been opened');
  const answer = await execute();
  operation.answer = answer;
  const isEvents = answer instanceof ResultIterator && summary.type === 'subscription';
  if (isEvents && summary.outcome === 'ok') summary.eventsBegan(null);
  return answer;
}
