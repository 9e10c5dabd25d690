import { createSourceEventStream, type ExecutionResult } from 'graphql';
import { Slot } from '../../lib/limits/slot.ts';
import { PullStream, pullStreamOf } from '../../lib/pull-stream.ts';
import type { ClientLimits } from '../admission/client-limits.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import { overLimit } from '../operation/over-limit-error.ts';
import type { EventResults } from './event-results.ts';

/** The events, or a result where there are none. */
export type Subscribed = AsyncIterableIterator<ExecutionResult, void> | ExecutionResult;

/** Begins a subscription, whose transport delivers its events. Their texts pass no iterator. */
export async function beginEvents(
  results: EventResults,
  limits: ClientLimits,
  context: OperationContext,
): Promise<Subscribed> {
  const { operation } = context;
  const { prepared, params, values, cost, signal, transport, clientNow } = operation;
  const { record, reportsEnd = () => false } = transport;
  const args = prepared.args.of(context, values, params.variables);
  // Either a stream, or a result with the error: the executor throws nothing.
  const source = await createSourceEventStream(
    args as Parameters<typeof createSourceEventStream>[0],
  );
  if (!(Symbol.asyncIterator in source)) {
    reportsEnd(source.errors?.[0]?.originalError);
    return source;
  }
  const events = source instanceof PullStream ? source : pullStreamOf<unknown>(source);
  // The subscription may have proved its account by now.
  limits.currentClient(operation);
  const slot = Slot.take(limits.limiter, 'subscriptions', clientNow);
  if (slot === null) {
    events.leave();
    return { errors: overLimit('subscriptions').errors };
  }
  operation.events = results.follow(events, {
    prepared,
    // Each event has a context of its own; this one, and variables that nothing uses, must not live as long as the subscription.
    args: { ...args, contextValue: null, rawVariableValues: {} },
    cost,
    signal,
    reportsEnd,
    ended: slot.release,
    record,
    newContext: context.eventContexts(),
    clientNow,
  });
  return operation.events;
}
