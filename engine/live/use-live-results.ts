import type { SubscribeFunction } from '@envelop/core';
import { createSourceEventStream, type ExecutionResult } from 'graphql';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { takeSlot } from '../../lib/limits/slot.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import { admitted, type GivenArgs, type GraphPlugin } from '../admission/plugin.ts';
import { overLimit } from '../limits/over-limit-error.ts';
import { currentClient } from '../limits/use-client-limits.ts';
import type { FollowedEvents } from './delivery.ts';
import { EventResults, type EventResultsOptions } from './event-results.ts';

interface LiveResultsOptions extends EventResultsOptions {
  readonly limiter: Limiter;
}

// A client at the limit has to close a subscription before it can open another.
const RETRY_SECONDS = 5;

/** The events; or a result where there are none, and nothing where the transport has said why. */
export type Subscribed = FollowedEvents | AsyncGenerator<never> | ExecutionResult;

/**
 * Executes the events of a subscription, once for all subscribers who may share them. Their texts are
 * shared as well, and bypass the iterator: they pass no hook `onNext`. Needs `prepared` of usePreparedDocuments,
 * `values` of useVariables and the `cost` of useCostLimit; fills `events`, which a transport delivers.
 */
export function useLiveResults(options: LiveResultsOptions): GraphPlugin {
  const { codes, limiter } = options;
  const results = new EventResults(options);

  async function subscribe(given: GivenArgs): Promise<Subscribed> {
    const context = admitted(given);
    const { operation, clientNow } = context;
    const { prepared, params, values, cost, signal, transport } = operation;
    const { record, reportsEnd = () => false } = transport;
    const args = prepared.args.of(context, values, params.variables);
    // Either a stream, or a result with the error: the executor throws nothing.
    const events = await createSourceEventStream(
      args as Parameters<typeof createSourceEventStream>[0],
    );
    if (!(events instanceof PullStream)) {
      if (Symbol.asyncIterator in events) {
        throw new TypeError('a subscription field of the schema must return a PullStream');
      }
      const cause = events.errors?.[0]?.originalError;
      if (!reportsEnd(cause)) return events;
      codes.ended(cause, record);
      return nothing();
    }
    // The subscription may have proved its account by now.
    currentClient(context, limiter);
    const slot = takeSlot(limiter, 'subscriptions', clientNow);
    if (slot === null) {
      await events.return();
      return { errors: overLimit('subscriptions', RETRY_SECONDS).errors };
    }
    const live = {
      prepared,
      // Each event has a context of its own; this one must not live as long as the subscription.
      args: { ...args, contextValue: null },
      cost,
      signal,
      reportsEnd,
      ended: slot.release,
      record,
      newContext: context.eventContexts(),
      clientNow,
      client: clientNow(),
      expected: cost,
      reserved: 0,
    };
    operation.events = results.follow(events, live);
    return operation.events;
  }

  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(subscribe as unknown as SubscribeFunction);
    },
  };
}

async function* nothing(): AsyncGenerator<never> {}
