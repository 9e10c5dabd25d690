import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import type { ReadRecord } from './read-record.ts';
import { Scope } from './scope.ts';
import type { Services } from './services.ts';

/** One operation's context, or that of one event of a subscription. What lives longer is in `services`. */
export class Context implements ReadRecord {
  readonly services: Services;
  isPersonal = false;
  readsCatalog = false;
  /** Fields that the answer can hold. */
  cost = 0;
  /** Fields that it holds, as they were counted. */
  fields = 0;
  /** For how long an event was held back, because its account's events came to too much. */
  waitedMs = 0;
  readonly #caller: Caller;
  readonly #requestId: string;
  readonly #receipts: ReceiptEntry[] = [];
  #own: Scope | null = null;
  #current: Scope | null = null;

  constructor(services: Services, caller: Caller, requestId: string) {
    this.services = services;
    this.#requestId = requestId;
    this.#caller = caller;
  }

  /** These two belong to one request: a field that shows them can be shown to nobody else. */
  get requestId(): string {
    this.isPersonal = true;
    return this.#requestId;
  }

  get receipts(): ReceiptEntry[] {
    this.isPersonal = true;
    return this.#receipts;
  }

  /** What the fields being resolved now may read. */
  get scope(): Scope {
    this.#current ??= this.#ownScope();
    return this.#current;
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
    this.#own ??= new Scope(this.services, this.#recordingCaller(), this);
    return this.#own;
  }

  #recordingCaller(): Caller {
    return { ...this.#caller, receipt: (entry) => this.#receipts.push(entry) };
  }
}
