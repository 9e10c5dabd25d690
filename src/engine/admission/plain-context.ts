import type { Operation } from './operation.ts';
import type { OperationContext } from './operation-context.ts';

/** The context of a schema of which no response is cached. */
export function plainContext(operation: Operation): OperationContext {
  return {
    operation,
    isPersonal: false,
    readsShared: false,
    receipt: () => ({}),
    validity() {
      throw new Error('no response of this schema is cached');
    },
    eventContexts: () => () => plainContext(operation),
  };
}
