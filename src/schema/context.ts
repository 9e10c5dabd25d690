import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import { Scope } from './scope.ts';
import type { Services } from './services.ts';

/** One operation's context. What lives longer is in `services`. */
export class Context {
  readonly services: Services;
  readonly requestId: string;
  readonly receipts: ReceiptEntry[] = [];
  /** What the fields being resolved now may read. */
  scope: Scope;
  #own: Scope;

  constructor(services: Services, caller: Caller, requestId: string) {
    this.services = services;
    this.requestId = requestId;
    this.#own = new Scope(services, { ...caller, receipt: (entry) => this.receipts.push(entry) });
    this.scope = this.#own;
  }

  /**
   * Every mutation field runs through here. They run one after the other, so the scope that a write
   * leaves behind serves just the fields selected on its own answer.
   */
  async write<T>(send: (scope: Scope) => Promise<T>): Promise<T> {
    this.scope = this.#own;
    try {
      return await send(this.#own);
    } finally {
      this.#own = this.#own.renewed();
      this.scope = this.#own;
    }
  }

  /** For the fields of a login's own answer: until the next write they read with the new token. */
  actAs(token: string): void {
    this.scope = this.#own.withToken(token);
  }
}
