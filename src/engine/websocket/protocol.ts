import type {
  ExecutionArgs,
  ExecutionResult,
  FormattedExecutionResult,
  GraphQLError,
} from 'graphql';
import { type ConnectionInitMessage, type Context, makeServer } from 'graphql-ws';
import { mayBeMutation } from '../admission/admission.ts';
import { Refusal, refusal, tooComplex } from '../operation/errors.ts';
import type { GraphQLSocket } from './graphql-socket.ts';
import { SocketOperation } from './socket-operation.ts';

type SocketContext = Context<ConnectionInitMessage['payload'], GraphQLSocket>;

/** The limit of in-flight operations on one socket, subscriptions included. Those that the client has left do not count. */
const MAX_OPERATIONS = 100;

/**
 * graphql-ws's protocol for all sockets. It awaits each message before it asks for the next event, so a slow client holds
 * one event. Its adapter for `ws` is not used: that prints what clients do wrong, and rounds numbers.
 */
export const PROTOCOL = makeServer<ConnectionInitMessage['payload'], GraphQLSocket>({
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
    // The protocol writes the message in the turn in which it calls this.
    const toJSON = () => {
      socket.writes(operation);
      return operation.sendableNow(result as ExecutionResult) ?? {};
    };
    return { toJSON } as FormattedExecutionResult;
  },
  onComplete({ extra: socket, subscriptions }, id) {
    const operation = socket.operations.get(id);
    if (operation) socket.end(operation, !(id in subscriptions));
  },
});

async function open(
  { extra: socket, subscriptions }: SocketContext,
  id: string,
  payload: object,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const { session, settings } = socket;
  const operation = new SocketOperation(id, session, settings);
  operation.summary.mayBeMutation = mayBeMutation(payload);
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
    const { document, params } = await operation.open({ ...payload }, (reason) =>
      socket.close('tokenEnd', reason),
    );
    return {
      schema: settings.schema,
      document: document.document,
      operationName: params.operationName,
      // The protocol passes it on to `start` and `onNext`.
      rootValue: operation,
    };
  } catch (error) {
    const { errors } = settings.masking.refusal(error, operation.summary);
    socket.end(operation, false);
    return errors;
  } finally {
    // Frees the text: the protocol retains the message until the operation is over.
    Object.assign(payload, { query: '', variables: null, extensions: null });
  }
}

function start({ rootValue }: ExecutionArgs) {
  return (rootValue as SocketOperation).start();
}
