import type { ExecutionArgs, ExecutionResult } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { TokenEndedError } from '../../domain/positions/token-ended-error.ts';
import type { EnvelopedOperation } from '../../graph.ts';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { ResultSink } from '../../plugins/live/delivery.ts';
import type { Subscribed } from '../../plugins/live/use-live-results.ts';
import type { Operation } from '../../plugins/operation.ts';
import { type JsonText, jsonText } from '../../plugins/results/json-text.ts';

type Started = Subscribed | AsyncGenerator<never>;

/**
 * The operations that graphql-ws has yet to start: it hands to `execute` and `subscribe` the very
 * arguments that `onSubscribe` returned. It references them for as long as a subscription lasts, so
 * they have no context, and what only the start needs is kept beside them.
 */
export class OperationStarts {
  readonly #starts = new WeakMap<ExecutionArgs, () => Eventually<Started>>();

  /** The arguments by which `start` knows the operation again. */
  prepare(opened: EnvelopedOperation, results: () => ResultSink): ExecutionArgs {
    const { schema, document, operationName } = opened.args;
    const args: ExecutionArgs = { schema, document, operationName, contextValue: null };
    this.#starts.set(args, () => begin(opened, results));
    return args;
  }

  start(args: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
    const begin = this.#starts.get(args);
    if (begin === undefined) throw new Error('an operation is started once');
    this.#starts.delete(args);
    return begin() as Promise<ExecutionResult>;
  }
}

function begin(opened: EnvelopedOperation, results: () => ResultSink): Eventually<Started> {
  const started = opened.type === 'subscription' ? opened.subscribe() : opened.execute();
  return after(started, (settled) => handedOver(settled, opened.operation, results));
}

/**
 * Events bypass graphql-ws, which would serialize each one anew for each socket, and so do large
 * results, which it would serialize in one piece. The library handles the start, the end and the
 * client's messages.
 */
function handedOver(
  started: Started,
  { meter, events }: Operation,
  results: () => ResultSink,
): Eventually<Started> {
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

async function* nothingMore(): AsyncGenerator<never> {}

/**
 * A token that has ended is signalled by the close code alone: after an `error` message client
 * libraries would end the subscription for good instead of reconnecting.
 */
export function closesFor(socket: WebSocket): (error: unknown) => boolean {
  return (error) => {
    const hasEnded = error instanceof TokenEndedError;
    if (hasEnded) socket.close(CloseCode.Forbidden, error.code);
    return hasEnded;
  };
}
