import type { Client } from './client.ts';
import type { Limiter } from './limiter.ts';

/** One of what clients may have so many of at a time, such as sockets. */
export interface Slot {
  /** Says whose it is by now. */
  owner: () => Client;
  /** Charges it to its owner. False where the account has none left: then it stays where it is. */
  settle(): boolean;
  /** Idempotent. */
  release(): void;
}

/** Null where the client has none left. */
export function takeSlot<Name extends string>(
  limiter: Limiter<Name>,
  name: Name,
  owner: () => Client,
): Slot | null {
  let client: Client | null = owner();
  if (limiter.take(name, client).isOver) return null;
  const slot: Slot = {
    owner,
    settle() {
      const next = slot.owner();
      if (client === null || next.key === client.key) return true;
      // A token that has expired, or was refused, holds nothing of its account any more.
      if (next.kind === 'address') limiter.spend(name, next, 1);
      else if (limiter.take(name, next).isOver) return false;
      limiter.giveBack(name, client);
      client = next;
      return true;
    },
    release() {
      if (client !== null) limiter.giveBack(name, client);
      client = null;
    },
  };
  return slot;
}
