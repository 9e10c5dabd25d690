import type { GraphPlugin } from '../plugin.ts';
import { overLimit } from './over-limit-error.ts';
import { SubscriptionSlots, type SubscriptionSlotsOptions } from './subscription-slots.ts';

// A client at the limit has to close a subscription before it can open another.
const RETRY_SECONDS = 5;

/** Limits the subscriptions that a client has at a time, over all its sockets and event streams. */
export function useSubscriptionLimit(options: SubscriptionSlotsOptions): GraphPlugin {
  const slots = new SubscriptionSlots(options);
  return {
    onAdmit({ operation: { prepared, client } }) {
      const isOver = prepared.node.operation === 'subscription' && slots.isFull(client);
      return isOver ? overLimit('subscriptions', RETRY_SECONDS) : null;
    },
    onSubscribe({ args: { contextValue }, setResultAndStopExecution }) {
      const { operation } = contextValue;
      operation.onEnded = slots.take(operation.client, operation.signal);
      // Hundreds may have been admitted before the first of them took its slot.
      if (operation.onEnded === null) {
        setResultAndStopExecution({ errors: overLimit('subscriptions', RETRY_SECONDS).errors });
      }
    },
  };
}
