import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { type ConnectionInitMessage, type Context, makeServer } from 'graphql-ws';
import { requestError, tooComplex } from '../../operation/request-error.ts';
import type { OpenedOperation } from '../../pipeline/pipeline.ts';
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
