import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { TokenEndedError } from '../../domain/positions/token-ended-error.ts';
import type { Ready } from '../../engine/opened-operation.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { FollowedEvents } from '../../plugins/live/delivery.ts';
import type { JsonText } from '../../plugins/results/json-text.ts';
import type { RequestSummary } from '../../schema/request-summary.ts';
import { PacedResults, type PacedSocket } from './paced-socket.ts';

type Answered = ExecutionResult | AsyncGenerator<never>;
type Started = Eventually<Answered> | ReturnType<Ready['subscribe']>;

/**
 * The operations that graphql-ws has yet to start: it hands to `execute` and `subscribe` the very
 * arguments that `onSubscribe` returned. It references them for as long as a subscription lasts, so
 * that what only the start needs is kept beside them.
 */
export class OperationStarts {
  readonly #starts = new WeakMap<ExecutionArgs, () => Started>();

  /** The arguments by which `start` knows the operation again. */
  prepare(
    operation: Ready,
    paced: PacedSocket,
    id: string,
    summary: RequestSummary,
  ): ExecutionArgs {
    const { schema, document, operationName } = operation;
    const args = { schema, document, operationName };
    const results = () => new PacedResults(paced, id, summary);
    this.#starts.set(args, () =>
      operation.operation === 'subscription'
        ? followed(operation, paced.socket, results)
        : answered(operation, results),
    );
    return args;
  }

  start(args: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
    const start = this.#starts.get(args);
    if (start === undefined) throw new Error('an operation is started once');
    this.#starts.delete(args);
    return start() as Promise<ExecutionResult>;
  }
}

function answered(operation: Ready, results: () => PacedResults): Eventually<Answered> {
  const result = operation.execute();
  return result instanceof Promise
    ? result.then((settled) => handedOver(operation, settled, results))
    : handedOver(operation, result, results);
}

/** graphql-ws writes a result in one piece; a large one is serialized in slices here, before its `complete`. */
function handedOver(
  operation: Ready,
  result: ExecutionResult,
  results: () => PacedResults,
): Eventually<Answered> {
  return operation.isCostly ? sentInSlices(operation.text(result), results) : result;
}

async function sentInSlices(
  text: Eventually<JsonText>,
  results: () => PacedResults,
): Promise<AsyncGenerator<never>> {
  const written = await text;
  await new Promise<void>((left) => results().send(written, left));
  return nothingMore();
}

async function* nothingMore(): AsyncGenerator<never> {}

/**
 * Events bypass graphql-ws, which would serialize each one anew for each socket. The library handles
 * the start, the end and the client's messages.
 */
async function followed(
  operation: Ready,
  socket: WebSocket,
  results: () => PacedResults,
): ReturnType<Ready['subscribe']> {
  const events = await operation.subscribe(closesFor(socket));
  return events instanceof FollowedEvents ? events.deliver(results()) : events;
}

/**
 * A token that has ended is signalled by the close code alone: after an `error` message client
 * libraries would end the subscription for good instead of reconnecting.
 */
function closesFor(socket: WebSocket): (error: unknown) => boolean {
  return (error) => {
    const hasEnded = error instanceof TokenEndedError;
    if (hasEnded) socket.close(CloseCode.Forbidden, error.code);
    return hasEnded;
  };
}
