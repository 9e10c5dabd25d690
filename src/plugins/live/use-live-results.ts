import type { SubscribeFunction } from '@envelop/core';
import {
  createSourceEventStream,
  type ExecutionResult,
  type ValidatedExecutionArgs,
} from 'graphql';
import { PullStream } from '../../lib/pull-stream.ts';
import type { ErrorCodes } from '../errors/error-codes.ts';
import { noSlotLeft } from '../limits/use-subscription-limit.ts';
import type { Client } from '../operation.ts';
import type { GraphPlugin, OperationContext } from '../plugin.ts';
import type { FollowedEvents } from './delivery.ts';
import { EventResults, type EventResultsOptions, type ReadingContext } from './event-results.ts';

interface LiveResultsOptions<Context, EachContext extends ReadingContext>
  extends EventResultsOptions<EachContext> {
  /** Makes the contexts of a subscription's events, which outlive the operation's own. */
  readonly eventContexts: (context: Context) => () => EachContext;
  /** The client whose account the subscription has proved by now. */
  readonly clientOf: (context: Context) => Client;
  readonly codes: ErrorCodes;
}

/** The events; or a result where there are none, and nothing where the transport has said why. */
export type Subscribed = FollowedEvents | AsyncGenerator<never> | ExecutionResult;

/**
 * Executes the events of a subscription, once for all subscribers who may share them. Their texts are
 * shared as well, and bypass the iterator: they pass no hook `onNext`.
 */
export function useLiveResults<
  Context extends OperationContext,
  EachContext extends ReadingContext,
>(options: LiveResultsOptions<Context, EachContext>): GraphPlugin {
  const { eventContexts, clientOf, codes } = options;
  const results = new EventResults(options as unknown as EventResultsOptions);

  async function subscribe({ contextValue }: { contextValue: Context }): Promise<Subscribed> {
    const { operation } = contextValue;
    const { prepared, params, values, cost, signal, transport, slot } = operation;
    const { requestId, record, reportsEnd = () => false } = transport;
    const args = prepared.args.of(contextValue, values, params.variables);
    const events = await sourceOf(args);
    if (!(events instanceof PullStream)) {
      slot?.release();
      const cause = events.errors?.[0]?.originalError;
      if (!reportsEnd(cause)) return events;
      codes.ended(cause, record);
      return nothing();
    }
    const client = clientOf(contextValue);
    if (slot?.moveTo(client) === false) {
      slot.release();
      await events.return();
      return noSlotLeft();
    }
    const live = {
      prepared,
      // Each event has a context of its own; this one must not live as long as the subscription.
      args: { ...args, contextValue: null },
      cost,
      signal,
      failing: { requestId, record },
      newContext: eventContexts(contextValue),
      key: client.key,
      expected: cost,
      reserved: 0,
    };
    operation.events = results.follow(events, live, {
      reportsEnd,
      ended: slot?.release ?? nothingToDo,
    });
    return operation.events;
  }

  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(subscribe as unknown as SubscribeFunction);
    },
  };
}

/** The event stream, or a result with the error: the executor throws nothing. */
async function sourceOf(
  args: ValidatedExecutionArgs,
): Promise<PullStream<unknown> | ExecutionResult> {
  const source = await createSourceEventStream(
    args as Parameters<typeof createSourceEventStream>[0],
  );
  if (source instanceof PullStream || !(Symbol.asyncIterator in source)) return source;
  throw new TypeError('a subscription field of the schema must return a PullStream');
}

function nothingToDo(): void {}

async function* nothing(): AsyncGenerator<never> {}
