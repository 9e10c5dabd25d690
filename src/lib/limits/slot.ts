import type { Client } from './client.ts';
import type { Limiter } from './limiter.ts';
import type { LimitName } from './table.ts';

/** One of what clients may have so many of at a time, such as sockets. */
export class Slot {
  /** Says whose it is by now. */
  owner: () => Client;
  readonly #limiter: Limiter;
  readonly #name: LimitName;
  #client: Client;
  #isReleased = false;

  private constructor(limiter: Limiter, name: LimitName, owner: () => Client, client: Client) {
    this.#limiter = limiter;
    this.#name = name;
    this.owner = owner;
    this.#client = client;
  }

  /** Null where the client has none left. */
  static take(limiter: Limiter, name: LimitName, owner: () => Client): Slot | null {
    const client = owner();
    const { isOver } = limiter.take(name, client);
    return isOver ? null : new Slot(limiter, name, owner, client);
  }

  /** Charges it to its owner. False where the account has none left: then it stays where it is. */
  settle(): boolean {
    const client = this.owner();
    if (this.#isReleased || client.key === this.#client.key) return true;
    // A token that has expired, or was refused, holds nothing of its account any more.
    if (client.kind === 'address') this.#limiter.spend(this.#name, client, 1);
    else if (this.#limiter.take(this.#name, client).isOver) return false;
    this.#limiter.giveBack(this.#name, this.#client);
    this.#client = client;
    return true;
  }

  /** Idempotent. */
  readonly release = (): void => {
    if (!this.#isReleased) this.#limiter.giveBack(this.#name, this.#client);
    this.#isReleased = true;
  };
}
