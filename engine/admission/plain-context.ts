import type { Operation } from './operation.ts';
import type { OperationContext, Validity } from './operation-context.ts';

/** The context of a schema of which no response is cached. */
export class PlainContext implements OperationContext {
  readonly operation: Operation;
  readonly isPersonal = false;
  readonly readsShared = false;

  constructor(operation: Operation) {
    this.operation = operation;
  }

  receipt(): Readonly<Record<string, unknown>> {
    return {};
  }

  validity(): Validity {
    throw new Error('no response of this schema is cached');
  }

  eventContexts(): () => PlainContext {
    const { operation } = this;
    return () => new PlainContext(operation);
  }
}
