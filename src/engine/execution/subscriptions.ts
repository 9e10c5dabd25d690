import { createSourceEventStream, type ExecutionResult } from 'graphql';
import { EventIterator } from '../../lib/event-iterator.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import type { OperationServices } from '../admission/admission.ts';
import type { EventContext, Operation, OperationContext } from '../admission/operation.ts';
import { errorsOf } from '../core/error-masking.ts';
import { overLimit } from '../core/errors.ts';
import { Meter } from '../core/meter.ts';
import { type Answer, ResultIterator } from '../core/result-iterator.ts';

/** A subscription that has begun. */
interface Subscription {
  readonly operation: Operation;
  readonly events: AsyncIterable<unknown>;
  /** Makes the context of an event. Each event has its own, so that its reads are not as old as the subscription. */
  readonly newContext: () => EventContext;
  /** Called once, when the results have ended. */
  readonly ended: () => void;
}

type EventServices = Pick<
  OperationServices,
  'limits' | 'masking' | 'maxCost' | 'receipts' | 'watchToken'
>;

/** Begins a subscription. Returns the results of its events, or a result with errors. */
export async function subscribe(
  services: EventServices,
  context: OperationContext,
): Promise<Answer> {
  const { limits } = services;
  const { operation } = context;
  const { args, transport } = operation;
  // The executor does not throw: it returns a stream, or a result with the error. The cast states that admission has found
  // a subscription.
  const events = await createSourceEventStream({
    ...args,
    contextValue: context,
  } as Parameters<typeof createSourceEventStream>[0]);
  if (!(Symbol.asyncIterator in events)) {
    transport.reportsEnd?.(events.errors?.[0]?.originalError);
    return events;
  }
  // Beginning the subscription may have proved the token's account.
  const ended = limits.takeSubscription(limits.currentClient(operation));
  if (ended === null) {
    fireAndForget('results', Promise.resolve(events[Symbol.asyncIterator]().return?.()));
    return { errors: overLimit('subscriptions').errors };
  }
  // This context must not live until the subscription ends.
  const newContext = context.eventContexts();
  operation.results = follow(services, { operation, events, newContext, ended });
  return operation.results;
}

/** Executes each event when its result is asked for. */
export function follow(services: EventServices, subscription: Subscription): ResultIterator {
  const { operation, events, newContext, ended } = subscription;
  const { caller, transport } = operation;
  const { signal, token } = caller;
  const results = new ResultIterator(events, {
    resultOf: (event) => resultOf(services, event, subscription),
    lastResult(error) {
      // Counts the error even if it is not sent.
      const shown = published(services, { errors: errorsOf(error) }, operation, newContext());
      return transport.reportsEnd?.(error) ? null : shown;
    },
    ended() {
      unwatch?.();
      signal?.removeEventListener('abort', leave);
      ended();
    },
  });
  const unwatch = token && services.watchToken(token, (error) => results.fail(error));
  // A transport may learn of a disconnect only with the next event, so the AbortSignal ends the results.
  const leave = () => fireAndForget('results', results.return());
  if (signal?.aborted) leave();
  else signal?.addEventListener('abort', leave);
  return results;
}

/** Executes an event. Throws if the client is over its limit of fields, which ends its subscription. */
async function resultOf(
  services: EventServices,
  event: unknown,
  { operation, events, newContext }: Subscription,
): Promise<ExecutionResult> {
  const { limits, maxCost } = services;
  const { args, caller, facts, prepared } = operation;
  // Events are charged to the caller's account, or to the address of its client once its token has ended.
  const client = clientOf(caller);
  limits.checkFields(client);
  const meter = new Meter(maxCost, facts);
  const context = newContext();
  const eventArgs = { ...args, rootValue: event, contextValue: context };
  const result = await prepared.executor.execute(eventArgs, meter);
  // The client does not get the changes of this event, so the next event has to repeat them.
  if (result.data == null && events instanceof EventIterator) events.missed();
  // An event over its budget ends its subscription, because the next event would exceed it too.
  if (meter.isOver) throw meter.error();
  limits.chargeEvent(client, meter.fields);
  return published(services, result, operation, context, facts.cost, meter.fields);
}

/** Masks an event's errors, and adds the event's receipt (its costs). */
function published(
  { masking, receipts }: EventServices,
  result: ExecutionResult,
  { transport }: Operation,
  context: EventContext,
  cost = 0,
  fields = 0,
): ExecutionResult {
  const masked = masking.maskedResult(result, transport.summary);
  return receipts ? { ...masked, extensions: context.receipt(cost, fields) } : masked;
}
