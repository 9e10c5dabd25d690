import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { TokenEndedError } from '../domain/positions/token-ended-error.ts';
import { FollowedEvents } from '../engine/live/followed-events.ts';
import type { Ready } from '../engine/opened-operation.ts';
import { PacedResults, type PacedSocket } from './paced-socket.ts';

/** How an operation is begun, once. */
interface Beginning {
  run: (() => Begun) | null;
}

type Begun = Answered | Promise<Answered> | ReturnType<Ready['subscribe']>;

/**
 * graphql-ws wants execution arguments; ours are prepared already and travel along. It holds on to
 * them as long as a subscription lasts, so that what only its beginning needed is let go there.
 */
export function asArguments(operation: Ready, paced: PacedSocket, id: string): ExecutionArgs {
  const { schema, document, operationName } = operation;
  const run =
    operation.operation === 'subscription'
      ? () => followed(operation, paced, id)
      : () => answered(operation, paced, id);
  return { schema, document, operationName, rootValue: { run } satisfies Beginning };
}

export function begin({ rootValue }: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
  const beginning = rootValue as Beginning;
  const { run } = beginning;
  beginning.run = null;
  if (run === null) throw new Error('an operation is begun once');
  return run() as Promise<ExecutionResult>;
}

type Answered = ExecutionResult | AsyncGenerator<never>;

function answered(operation: Ready, paced: PacedSocket, id: string): Answered | Promise<Answered> {
  const result = operation.execute();
  return result instanceof Promise
    ? result.then((arrived) => handedOver(operation, arrived, paced, id))
    : handedOver(operation, result, paced, id);
}

/** The library writes a result in one piece; a large one is written in slices here, and it adds the end. */
function handedOver(
  operation: Ready,
  result: ExecutionResult,
  paced: PacedSocket,
  id: string,
): Answered | Promise<Answered> {
  return operation.isCostly ? sentInSlices(operation.text(result), paced, id) : result;
}

async function sentInSlices(
  text: string | Promise<string>,
  paced: PacedSocket,
  id: string,
): Promise<AsyncGenerator<never>> {
  const written = await text;
  await new Promise<void>((left) => new PacedResults(paced, id).send(written, left));
  return nothingMore();
}

async function* nothingMore(): AsyncGenerator<never> {}

/**
 * Its events pass the library by, which would make each one's text for each socket anew. It is left
 * the beginning and the end, and what a client says in between.
 */
async function followed(
  operation: Ready,
  paced: PacedSocket,
  id: string,
): ReturnType<Ready['subscribe']> {
  const results = await operation.subscribe(closesFor(paced.socket));
  return results instanceof FollowedEvents ? results.deliver(new PacedResults(paced, id)) : results;
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
