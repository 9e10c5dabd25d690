import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { type ConnectionInitMessage, type Context, MessageType, makeServer } from 'graphql-ws';
import { isObject, parseExactJson } from '../../lib/json.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import { requestError, tooComplex } from '../operation/errors.ts';
import { type OperationOwner, SocketOperation } from './socket-operation.ts';

/** A socket as the protocol sees it. */
export interface ProtocolSocket extends OperationOwner {
  /** The operations under way by their ids, also those that their client has left. */
  readonly operations: Map<string, SocketOperation>;
}

type SocketContext = Context<ConnectionInitMessage['payload'], ProtocolSocket>;

/** The limit of in-flight operations on one socket, subscriptions included. Those that the client has left do not count. */
const MAX_OPERATIONS = 100;

/** An opened operation, which the protocol passes on as the root value of its arguments. */
interface Begun {
  readonly operation: SocketOperation;
  readonly opened: OpenedOperation;
}

/**
 * graphql-ws's protocol for all sockets. It awaits each message before it asks for the next event, so a slow client holds
 * one event. Its adapter for `ws` is not used: that prints what clients do wrong, and rounds numbers.
 */
export const PROTOCOL = makeServer<ConnectionInitMessage['payload'], ProtocolSocket>({
  onConnect(context) {
    const { extra: socket, connectionParams } = context;
    // The context must not retain the token.
    delete (context as { connectionParams?: unknown }).connectionParams;
    if (!socket.session.initialize(connectionParams)) socket.close('header');
  },
  onSubscribe: (context, id, payload) => open(context, id, payload),
  execute: start,
  subscribe: start,
  onNext: (_context, _id, _payload, { rootValue }, result) =>
    (rootValue as Begun).operation.payloadOf(result as ExecutionResult),
  onComplete({ extra: socket, subscriptions }, id) {
    socket.operations.get(id)?.end(!(id in subscriptions));
  },
});

async function open(
  { extra: socket, subscriptions }: SocketContext,
  id: string,
  payload: object,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const operation = new SocketOperation(id, socket);
  // An operation that its client has left runs on. The protocol would take its end for the end of the new one.
  if (socket.operations.has(id)) {
    socket.close('sameId');
    const error = requestError('BAD_USER_INPUT', 'An operation with this id is under way.');
    return operation.refuse(error, payload);
  }
  const count = Object.keys(subscriptions).length;
  if (count > MAX_OPERATIONS) {
    const error = tooComplex('operations of a socket', count, MAX_OPERATIONS);
    return operation.refuse(error, payload);
  }
  socket.operations.set(id, operation);
  const opened = await operation.open({ ...payload });
  // Frees the text: the protocol retains the message until the operation is over.
  Object.assign(payload, { query: '', variables: null, extensions: null });
  if (!('kind' in opened)) return opened;
  const { schema } = socket.settings.graph;
  const { document, params } = opened.operation;
  const rootValue: Begun = { operation, opened };
  return { schema, document: document.document, operationName: params.operationName, rootValue };
}

function start({ rootValue }: ExecutionArgs) {
  const { operation, opened } = rootValue as Begun;
  return operation.start(opened);
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
export function readMessage(text: string): unknown {
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
