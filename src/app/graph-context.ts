import type { CatalogView } from '../domain/catalog/catalogs.ts';
import {
  evaluate,
  type Operation,
  type OperationContext,
  type ReadingContext,
  type RunCost,
  type Validity,
} from '../engine/index.ts';
import type { Caller } from '../gateway/caller.ts';
import { chain, type MaybePromise } from '../lib/maybe-promise.ts';
import type { Trace } from '../lib/tracing/tracing.ts';
import { Context } from '../schema/context.ts';
import { EventScope } from '../schema/event-scope.ts';
import type { Plan } from '../schema/scope.ts';
import type { Services } from '../schema/services.ts';

/** A context whose run has a receipt. */
class SharedContext extends Context implements ReadingContext {
  receipt({ cost, fields }: RunCost): Readonly<Record<string, unknown>> {
    const gateway = (this.entries ?? []).map(({ operation, ms, source, outcome = 'ok' }) => ({
      operation,
      ms: Math.round(ms * 10) / 10,
      source,
      ...(outcome !== 'ok' && { outcome }),
    }));
    return { gateway, cost, fields };
  }
}

/** The context of one operation: the means by which its resolvers read, and what the response cache asks about the catalog. */
export class GraphContext extends SharedContext implements OperationContext {
  readonly operation: Operation;

  constructor(services: Services, caller: Caller, operation: Operation) {
    super(services, caller, operation.transport.record);
    this.operation = operation;
  }

  override planOf(field = ''): Plan {
    const { prepared, inputs } = this.operation;
    const plan = prepared.plans.get(field);
    return {
      maxAgeSeconds: evaluate(prepared.ageLimit, inputs),
      has: (read) => evaluate(plan?.get(read) ?? 0, inputs) > 0,
    };
  }

  override actAs(token: string): void {
    super.actAs(token);
    this.operation.issuedToken = token;
  }

  override scanned(count: number): void {
    this.operation.meter.scanned(count);
  }

  /** The version of the catalog for which the viewer is proved. */
  validity(): MaybePromise<Validity> {
    return chain(this.scope.catalog(), validityOf);
  }

  eventContexts(): () => EventContext {
    const { services, calls } = this;
    const { token, signal, client, requestId, forwarded } = this.caller;
    const caller = { token, signal, client, requestId, forwarded };
    // The operation's own context must not live as long as the subscription.
    return () => new EventContext(services, caller, calls);
  }

  protected override get trace(): Trace | undefined {
    return this.operation.trace ?? super.trace;
  }
}

/** The context of one event: it reads anew, makes no call for the account, and has no trace, as its request ended. */
class EventContext extends SharedContext {
  protected override createScope(caller: Caller): EventScope {
    return new EventScope(this.services, caller, this);
  }
}

function validityOf({ key, version, fetchedAt, stale, freshSeconds }: CatalogView): Validity {
  return {
    version: `${version.version} ${key}`,
    copy: `${fetchedAt.getTime()} ${stale}`,
    freshSeconds,
  };
}
