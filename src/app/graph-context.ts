import type { Operation, OperationContext } from '../engine/index.ts';
import { Context } from '../schema/context.ts';
import { type Plan, Scope, type Services } from '../schema/scope.ts';

export class GraphContext extends Context implements OperationContext {
  readonly operation: Operation;

  constructor(services: Services, operation: Operation) {
    super(services, operation.caller, operation.transport.summary);
    this.operation = operation;
  }

  override planOf(field = ''): Plan {
    const { ageLimit, plans } = this.operation.facts;
    const plan = plans.get(field);
    return { maxAgeSeconds: ageLimit, has: (read) => plan?.has(read) ?? false };
  }

  override actAs(token: string): void {
    super.actAs(token);
    this.operation.issuedToken = token;
  }

  override scanned(count: number): void {
    this.operation.meter.scanned(count);
  }

  /** Returns a factory for the contexts of events. An event reads again, and has no trace, because its request has ended. */
  eventContexts(): () => Context {
    const { services } = this;
    const { summary } = this.operation.transport;
    const { token, sender, requestId, forwarded } = this.caller;
    const caller = { token, sender, requestId, forwarded };
    // The operation's own context must not live as long as the subscription.
    return () => new Context(services, caller, summary);
  }

  protected override createScope(): Scope {
    const { trace } = this.operation.transport.summary;
    const caller = this.callerOfCalls(trace ?? undefined);
    return new Scope(this.services, caller, this.identified, this.planOf());
  }
}
