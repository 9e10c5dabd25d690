import type { ExecutionResult } from 'graphql';
import { Slots } from '../../lib/slots.ts';
import type { Client, SubscriptionSlot } from '../operation.ts';
import type { GraphPlugin } from '../plugin.ts';
import { overLimit } from './over-limit-error.ts';

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
      operation.slot = slots.take(operation.client, operation.signal);
      // Hundreds may have been admitted before the first of them took its slot.
      if (operation.slot === null) setResultAndStopExecution(noSlotLeft());
    },
  };
}

export interface SubscriptionSlotsOptions {
  readonly perAccount: number;
  /** The limit for clients that are not proved yet: a network has many people behind one address. */
  readonly perAddress: number;
}

/** Limits the concurrent subscriptions of a client, over all its sockets and event streams. */
export class SubscriptionSlots {
  readonly #options: SubscriptionSlotsOptions;
  readonly #slots = new Slots();

  constructor(options: SubscriptionSlotsOptions) {
    this.#options = options;
  }

  isFull(client: Client): boolean {
    return this.#slots.held(client.key) >= this.#most(client);
  }

  /** Null where all slots are taken. An abort of the signal releases the slot. */
  take(client: Client, signal?: AbortSignal): SubscriptionSlot | null {
    const slot = this.#slots.take(client.key, this.#most(client));
    if (slot === null) return null;
    const release = () => {
      signal?.removeEventListener('abort', release);
      slot.release();
    };
    if (signal?.aborted) release();
    else signal?.addEventListener('abort', release);
    return { release, moveTo: (other) => slot.moveTo(other.key, this.#most(other)) };
  }

  #most({ kind }: Client): number {
    return kind === 'address' ? this.#options.perAddress : this.#options.perAccount;
  }
}

export function noSlotLeft(): ExecutionResult {
  return { errors: overLimit('subscriptions', RETRY_SECONDS).errors };
}
