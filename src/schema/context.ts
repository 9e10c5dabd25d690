import type { FreshAccountProof } from '../domain/auth/proof.ts';
import type { Viewer } from '../domain/auth/viewer.ts';
import type { Caller, ReceiptEntry } from '../gateway/exchange.ts';
import type { Position } from '../gateway/operations/holdings.ts';
// biome-ignore lint/style/noRestrictedImports: The engine writes a hash of the login to the log.
import { LOGIN, textOf } from '../lib/account.ts';
import { clientOf, type RequestCaller } from '../lib/limits/request-caller.ts';
import { PublicError, type Shown } from '../lib/public-error.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';
import { NO_PLAN, type Plan, Scope, type Services } from './scope.ts';

// A receipt lists gateway calls. A call that was held back was not made.
const HELD_BACK: ReadonlySet<unknown> = new Set(['circuit', 'busy', 'expired']);

interface RequestNotes {
  claimedAccount: string | null;
  called(entry: ReceiptEntry): void;
}

/**
 * Gives resolvers their reads. This class is the context of one subscription event: it has no plan, and reads the account
 * from its feed. The context of an operation extends it. Objects that live longer are in `services`.
 */
export class Context {
  readonly services: Services;
  protected readonly caller: RequestCaller;
  readonly #notes: RequestNotes;
  readonly #entries: ReceiptEntry[] = [];
  #own: Scope | null = null;
  /** The scope in which fields read now: after a write, a new one. */
  #current: Scope | null = null;

  constructor(services: Services, caller: RequestCaller, notes: RequestNotes) {
    this.services = services;
    this.caller = caller;
    this.#notes = notes;
  }

  /** The plan of the operation, or of a root field that has a separate plan, as each mutation field has. */
  planOf(_field = ''): Plan {
    return NO_PLAN;
  }

  protected readonly identified = (viewer: Viewer): void => {
    this.#notes.claimedAccount ??= textOf(viewer[LOGIN]);
  };

  /** The reads available to the fields being resolved now. */
  get scope(): Scope {
    this.#current ??= this.#ownScope();
    return this.#current;
  }

  /** Runs one mutation field. Afterwards, the fields of its result read through a new scope, so they see the write. */
  async write<T>(send: (scope: Scope) => Promise<T>, field?: string): Promise<T> {
    const own = this.#ownScope();
    this.#current = own;
    try {
      return await send(own);
    } finally {
      this.#current = own.renewed(this.planOf(field));
      // Without the plan: the reads of this write's result do not prove the token for the next write.
      this.#own = own.renewed(NO_PLAN);
    }
  }

  /** Runs a mutation field of another service about the viewer's account. It has a limit of its own, by its name. */
  writeFor<T>(
    name: string,
    send: (account: FreshAccountProof, caller: Caller) => Promise<T>,
  ): Promise<T> {
    const { ownLists, writeLimits } = this.services;
    return this.write((scope) =>
      writeLimits.write(clientOf(scope.caller), name, async () => {
        const account = await scope.accountNow();
        try {
          return await send(account, scope.caller);
        } finally {
          // Its live lists show the change soon.
          ownLists.accountChanged(account);
        }
      }),
    );
  }

  /** Called with the number of instruments that a filter examined. */
  scanned(_count: number): void {}

  /** After a login: until the next write, the fields of its result read with the new token. */
  actAs(token: string): void {
    this.#current = this.scope.withToken(token);
  }

  receipt(cost: number, fields: number) {
    const gateway = this.#entries.map(({ operation, ms, source, outcome = 'ok' }) => ({
      operation,
      ms: Math.round(ms * 10) / 10,
      source,
      ...(outcome !== 'ok' && { outcome }),
    }));
    return { gateway, cost, fields };
  }

  protected createScope(): Scope {
    return new EventScope(this.services, this.callerOfCalls(undefined), this.identified, NO_PLAN);
  }

  /** The caller of the gateway's calls, which continue the trace. */
  protected callerOfCalls(trace: TraceSpan | undefined): Caller {
    const { token, tokenStatus, sender, requestId, forwarded } = this.caller;
    const receipt = (entry: ReceiptEntry) => this.#called(entry);
    return { token, tokenStatus, sender, requestId, trace, forwarded, receipt };
  }

  #ownScope(): Scope {
    this.#own ??= this.createScope();
    return this.#own;
  }

  #called(entry: ReceiptEntry): void {
    this.#notes.called(entry);
    if (!HELD_BACK.has(entry.outcome)) this.#entries.push(entry);
  }
}

/** The feed lacks a field's data, so the field would need a gateway call for each event and subscriber. */
class NotInEventsError extends PublicError {
  override readonly name = 'NotInEventsError';

  constructor() {
    super('the feed of this subscription does not have it');
  }

  get shown(): Shown {
    const message = 'This subscription does not have that: ask for it in a query.';
    return { code: 'BAD_USER_INPUT', message };
  }
}

/** The reads of one event: the account's feed and the catalog, because gateway calls for each event would be too many. */
class EventScope extends Scope {
  protected override asViewer(): never {
    throw new NotInEventsError();
  }

  override async positionsOf(): Promise<readonly Position[]> {
    const state = this.services.openPositions.shown(await this.viewer());
    if (state === null) throw new NotInEventsError();
    return state.rows;
  }
}
