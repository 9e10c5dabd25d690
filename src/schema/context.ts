import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import { Scope } from './scope.ts';
import type { Services } from './services.ts';

/** One operation's context, or that of one event of a subscription. What lives longer is in `services`. */
export class Context {
  readonly services: Services;
  readonly requestId: string;
  readonly receipts: ReceiptEntry[] = [];
  /** Fields that the answer can hold. */
  cost = 0;
  /** Fields that it holds, as they were counted. */
  fields = 0;
  /** For how long an event was held back, because its account's events came to too much. */
  waitedMs = 0;
  readonly #caller: Caller;
  #own: Scope | null = null;
  #current: Scope | null = null;

  constructor(services: Services, caller: Caller, requestId: string) {
    this.services = services;
    this.requestId = requestId;
    this.#caller = caller;
  }

  /** What the fields being resolved now may read. */
  get scope(): Scope {
    this.#current ??= this.#ownScope();
    return this.#current;
  }

  /** Whether anything has asked on the viewer's behalf; if not, others would have been answered alike. */
  get isPersonal(): boolean {
    return this.#current !== null;
  }

  /**
   * Every mutation field runs through here. They run one after the other, so the scope that a write
   * leaves behind serves just the fields selected on its own answer.
   */
  async write<T>(send: (scope: Scope) => Promise<T>): Promise<T> {
    const own = this.#ownScope();
    this.#current = own;
    try {
      return await send(own);
    } finally {
      this.#own = own.renewed();
      this.#current = this.#own;
    }
  }

  /** For the fields of a login's own answer: until the next write they read with the new token. */
  actAs(token: string): void {
    this.#current = this.#ownScope().withToken(token);
  }

  #ownScope(): Scope {
    this.#own ??= new Scope(this.services, {
      ...this.#caller,
      receipt: (entry) => this.receipts.push(entry),
    });
    return this.#own;
  }
}
