import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import type { Trace } from '../lib/tracing/tracing.ts';
import { NO_PLAN, type Plan, type ReadRecord, Scope } from './scope.ts';
import type { Services } from './services.ts';

// A receipt lists calls of the gateway. A call that was held back here is none.
const HELD_BACK: ReadonlySet<unknown> = new Set(['circuit', 'busy', 'expired']);

/** Notes on a request, made while it runs. */
interface CallRecord {
  claimedAccount: string | null;
  called(entry: ReceiptEntry): void;
}

/**
 * The means by which the resolvers of one operation, or of one event of a subscription, read. Anything that
 * lives longer is in `services`.
 */
export class Context implements ReadRecord {
  readonly services: Services;
  isPersonal = false;
  readsShared = false;
  /** Null before the first entry: most requests have one, and an array that grows costs more. */
  protected entries: ReceiptEntry[] | null = null;
  protected readonly caller: Caller;
  protected readonly calls: CallRecord | null;
  protected own: Scope | null = null;
  protected current: Scope | null = null;

  constructor(services: Services, caller: Caller, calls: CallRecord | null = null) {
    this.services = services;
    this.caller = caller;
    this.calls = calls;
  }

  /** The plan of the operation, or of a field of its root that reads apart, such as any of a mutation. */
  planOf(_field = ''): Plan {
    return NO_PLAN;
  }

  identified(login: string): void {
    if (this.calls !== null) this.calls.claimedAccount ??= login;
  }

  /** These two belong to one request: a result that contains them is never shared. */
  get requestId(): string {
    this.isPersonal = true;
    return this.caller.requestId ?? '';
  }

  get receipts(): readonly ReceiptEntry[] {
    this.isPersonal = true;
    return this.entries ?? [];
  }

  /** The reads available to the fields being resolved now. */
  get scope(): Scope {
    this.current ??= this.ownScope();
    return this.current;
  }

  /** Runs each mutation field, one after the other: the scope after a write serves its own result, in the answer at `field`. */
  async write<T>(send: (scope: Scope) => Promise<T>, field?: string): Promise<T> {
    const own = this.ownScope();
    this.current = own;
    try {
      return await send(own);
    } finally {
      this.current = own.renewed(this.planOf(field));
      // Reads of this result do not prove the next write.
      this.own = own.renewed(NO_PLAN);
    }
  }

  /** Called with the number of instruments that a filter examined. */
  scanned(_count: number): void {}

  /** Used for the fields of a login's own result: until the next write they read with the new token. */
  actAs(token: string): void {
    this.current = this.scope.withToken(token);
  }

  protected ownScope(): Scope {
    this.own ??= this.createScope(this.callerOfCalls());
    return this.own;
  }

  protected createScope(caller: Caller): Scope {
    return new Scope(this.services, caller, this, this.planOf());
  }

  /** The trace that the calls of the gateway continue. */
  protected get trace(): Trace | undefined {
    return this.caller.trace;
  }

  protected callerOfCalls(): Caller {
    const { token, standing, signal, client, requestId, forwarded, priority } = this.caller;
    const { trace } = this;
    const receipt = (entry: ReceiptEntry) => this.record(entry);
    return { token, standing, signal, client, requestId, trace, forwarded, priority, receipt };
  }

  protected record(entry: ReceiptEntry): void {
    this.calls?.called(entry);
    if (HELD_BACK.has(entry.outcome)) return;
    if (this.entries === null) this.entries = [entry];
    else this.entries.push(entry);
  }
}
