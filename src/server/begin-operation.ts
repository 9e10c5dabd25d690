import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { TokenEndedError } from '../domain/positions/token-ended-error.ts';
import type { Ready } from '../engine/opened-operation.ts';

/** How an operation is begun, once. */
interface Beginning {
  run: (() => Begun) | null;
}

type Begun = ReturnType<Ready['execute'] | Ready['subscribe']>;

/**
 * graphql-ws wants execution arguments; ours are prepared already and travel along. It holds on to
 * them as long as a subscription lasts, so that what only its beginning needed is let go there.
 */
export function asArguments(operation: Ready, socket: WebSocket): ExecutionArgs {
  const { schema, document, operationName } = operation;
  const run =
    operation.operation === 'subscription'
      ? () => operation.subscribe(closesFor(socket))
      : () => operation.execute();
  return { schema, document, operationName, rootValue: { run } satisfies Beginning };
}

export function begin({ rootValue }: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
  const beginning = rootValue as Beginning;
  const { run } = beginning;
  beginning.run = null;
  if (run === null) throw new Error('an operation is begun once');
  return run() as Promise<ExecutionResult>;
}

/**
 * For a token that counts no longer the close code says it all: a message of it would end the
 * subscription in client libraries for good.
 */
function closesFor(socket: WebSocket): (error: unknown) => boolean {
  return (error) => {
    const hasEnded = error instanceof TokenEndedError;
    if (hasEnded) socket.close(CloseCode.Forbidden, error.code);
    return hasEnded;
  };
}
