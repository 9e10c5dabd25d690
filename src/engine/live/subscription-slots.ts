import type { Gone } from '../../lib/departure.ts';
import { Slots } from '../../lib/slots.ts';
import type { ClientKey } from '../client-key.ts';

export interface SubscriptionSlotsOptions {
  readonly perAccount: number;
  /** Of those that are not proved yet: a network has many people behind one address. */
  readonly perAddress: number;
}

/** How many subscriptions a client may have at a time, over all its sockets and event streams. */
export class SubscriptionSlots {
  readonly #options: SubscriptionSlotsOptions;
  readonly #slots = new Slots();

  constructor(options: SubscriptionSlotsOptions) {
    this.#options = options;
  }

  isFull(client: ClientKey): boolean {
    return this.#slots.held(client.key) >= this.#most(client);
  }

  /** Null where all are taken; else gives the slot back, as does the client's leaving. */
  take(client: ClientKey, gone?: Gone): (() => void) | null {
    const giveBack = this.#slots.take(client.key, this.#most(client));
    if (giveBack === null) return null;
    const release = () => {
      gone?.removeEventListener('abort', release);
      giveBack();
    };
    if (gone?.aborted) release();
    else gone?.addEventListener('abort', release);
    return release;
  }

  #most({ kind }: ClientKey): number {
    return kind === 'address' ? this.#options.perAddress : this.#options.perAccount;
  }
}
