import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import type { RequestSummary } from './request-summary.ts';
import { type ReadRecord, Scope } from './scope.ts';
import type { Services } from './services.ts';

/**
 * The context of one operation, or by `EventContext` of one event of a subscription. Anything that lives
 * longer is in `services`.
 */
export class Context implements ReadRecord {
  readonly services: Services;
  isPersonal = false;
  readsCatalog = false;
  /** The fields that the answer can contain, as estimated. */
  cost = 0;
  /** The fields of the answer, as counted. */
  fields = 0;
  /** The time for which an event was delayed by its account's token bucket. */
  waitedMs = 0;
  readonly summary: RequestSummary | null;
  readonly ageLimitSeconds: number;
  readonly #caller: Caller;
  readonly #requestId: string;
  readonly #receipts: ReceiptEntry[] = [];
  #own: Scope | null = null;
  #current: Scope | null = null;

  constructor(
    services: Services,
    caller: Caller,
    requestId: string,
    summary: RequestSummary | null = null,
    ageLimitSeconds = Infinity,
  ) {
    this.services = services;
    this.#requestId = requestId;
    this.#caller = caller;
    this.summary = summary;
    this.ageLimitSeconds = ageLimitSeconds;
  }

  identified(login: string): void {
    if (this.summary !== null) this.summary.login ??= login;
  }

  /** These two belong to one request: a result that contains them is never shared. */
  get requestId(): string {
    this.isPersonal = true;
    return this.#requestId;
  }

  get receipts(): ReceiptEntry[] {
    this.isPersonal = true;
    return this.#receipts;
  }

  /** The reads available to the fields being resolved now. */
  get scope(): Scope {
    this.#current ??= this.#ownScope();
    return this.#current;
  }

  /**
   * Every mutation field runs through here. They run serially, so the scope that a write leaves
   * behind serves only the fields selected on its own result.
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

  /** Used for the fields of a login's own result: until the next write they read with the new token. */
  actAs(token: string): void {
    this.#current = this.#ownScope().withToken(token);
  }

  #ownScope(): Scope {
    this.#own ??= this.createScope(this.#recordingCaller());
    return this.#own;
  }

  protected createScope(caller: Caller): Scope {
    return new Scope(this.services, caller, this);
  }

  #recordingCaller(): Caller {
    return { ...this.#caller, receipt: (entry) => this.#record(entry) };
  }

  #record(entry: ReceiptEntry): void {
    this.summary?.called(entry);
    // A receipt lists the gateway's calls, and an open breaker lets none through.
    if (entry.outcome !== 'circuit' && entry.outcome !== 'busy') this.#receipts.push(entry);
  }
}
