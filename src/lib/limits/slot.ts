import type { Client } from './client.ts';
import type { Limiter } from './limiter.ts';

type Owner = () => Client;

/** One of what clients may have so many of at a time, such as sockets. */
export class Slot<Name extends string> {
  /** Says whose it is by now. */
  owner: Owner;
  readonly #limiter: Limiter<Name>;
  readonly #name: Name;
  /** The client that it is charged to; null once it is released. */
  #client: Client | null;

  /** Null where the client has none left. */
  static take<Name extends string>(limiter: Limiter<Name>, name: NoInfer<Name>, owner: Owner) {
    const client = owner();
    return limiter.take(name, client).isOver ? null : new Slot(limiter, name, owner, client);
  }

  private constructor(limiter: Limiter<Name>, name: Name, owner: Owner, client: Client) {
    this.owner = owner;
    this.#limiter = limiter;
    this.#name = name;
    this.#client = client;
  }

  /** Charges it to its owner. False where the account has none left: then it stays where it is. */
  settle(): boolean {
    const next = this.owner();
    if (this.#client === null || next.key === this.#client.key) return true;
    // A token that has expired, or was refused, holds nothing of its account any more.
    if (next.kind === 'address') this.#limiter.spend(this.#name, next, 1);
    else if (this.#limiter.take(this.#name, next).isOver) return false;
    this.#limiter.giveBack(this.#name, this.#client);
    this.#client = next;
    return true;
  }

  /** Idempotent. */
  release(): void {
    if (this.#client !== null) this.#limiter.giveBack(this.#name, this.#client);
    this.#client = null;
  }
}
