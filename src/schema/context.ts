import type { Caller, ReceiptEntry } from '../gateway/caller.ts';
import type { RequestCaller } from '../lib/limits/caller.ts';
import type { Trace } from '../lib/tracing/tracing.ts';
import { EventScope } from './event-scope.ts';
import { NO_PLAN, type Plan, type ReadRecord, type Scope } from './scope.ts';
import type { Services } from './services.ts';

// A receipt lists calls of the gateway. A call that was held back here is none.
const HELD_BACK: ReadonlySet<unknown> = new Set(['circuit', 'busy', 'expired']);

/** Notes on a request, made while it runs. */
interface RequestNotes {
  claimedAccount: string | null;
  called(entry: ReceiptEntry): void;
}

/**
 * The means by which resolvers read. By itself it is the context of one event of a subscription: it has no plan, and reads
 * the account from its feed. That of an operation extends it. Anything that lives longer is in `services`.
 */
export class Context implements ReadRecord {
  readonly services: Services;
  isPersonal = false;
  readsShared = false;
  protected readonly caller: RequestCaller;
  protected readonly notes: RequestNotes;
  /** Null before the first entry: most requests have one, and an array that grows costs more. */
  #entries: ReceiptEntry[] | null = null;
  #own: Scope | null = null;
  #current: Scope | null = null;

  constructor(services: Services, caller: RequestCaller, notes: RequestNotes) {
    this.services = services;
    this.caller = caller;
    this.notes = notes;
  }

  /** The plan of the operation, or of a field of its root that reads apart, such as any of a mutation. */
  planOf(_field = ''): Plan {
    return NO_PLAN;
  }

  identified(login: string): void {
    this.notes.claimedAccount ??= login;
  }

  /** The reads available to the fields being resolved now. */
  get scope(): Scope {
    this.#current ??= this.#ownScope();
    return this.#current;
  }

  /** Runs each mutation field, one after the other: the scope after a write serves its own result, in the answer at `field`. */
  async write<T>(send: (scope: Scope) => Promise<T>, field?: string): Promise<T> {
    const own = this.#ownScope();
    this.#current = own;
    try {
      return await send(own);
    } finally {
      this.#current = own.renewed(this.planOf(field));
      // Reads of this result do not prove the next write.
      this.#own = own.renewed(NO_PLAN);
    }
  }

  /** Called with the number of instruments that a filter examined. */
  scanned(_count: number): void {}

  /** Used for the fields of a login's own result: until the next write they read with the new token. */
  actAs(token: string): void {
    this.#current = this.scope.withToken(token);
  }

  /** What a run has cost, as the `extensions` of its result say it. */
  receipt({ cost, fields }: { readonly cost: number; readonly fields: number }) {
    const gateway = (this.#entries ?? []).map(({ operation, ms, source, outcome = 'ok' }) => ({
      operation,
      ms: Math.round(ms * 10) / 10,
      source,
      ...(outcome !== 'ok' && { outcome }),
    }));
    return { gateway, cost, fields };
  }

  protected createScope(): Scope {
    return new EventScope(this.services, this.callerOfCalls(undefined), this);
  }

  /** The caller of the gateway's calls, which continue the trace. */
  protected callerOfCalls(trace: Trace | undefined): Caller {
    const { token, standing, signal, client, requestId, forwarded } = this.caller;
    const receipt = (entry: ReceiptEntry) => this.#called(entry);
    return { token, standing, signal, client, requestId, trace, forwarded, receipt };
  }

  #ownScope(): Scope {
    this.#own ??= this.createScope();
    return this.#own;
  }

  #called(entry: ReceiptEntry): void {
    this.notes.called(entry);
    if (HELD_BACK.has(entry.outcome)) return;
    if (this.#entries === null) this.#entries = [entry];
    else this.#entries.push(entry);
  }
}
