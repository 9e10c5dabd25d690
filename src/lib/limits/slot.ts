import type { Client } from './client.ts';
import type { Limiter } from './limiter.ts';

type Owner = () => Client;

/** One unit of a resource that a client may use concurrently, such as sockets. */
export class Slot<Name extends string> {
  /** Returns the present owner. */
  owner: Owner;
  readonly #limiter: Limiter<Name>;
  readonly #name: Name;
  /** The client that it is charged to; null once it is released. */
  #client: Client | null;

  /** Null if the client has none left. */
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

  /** Charges the present owner. Returns false, and changes nothing, if the owner's account has none left. */
  settle(): boolean {
    const next = this.owner();
    if (this.#client === null || next.key === this.#client.key) return true;
    // An expired or refused token no longer counts towards its account.
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
