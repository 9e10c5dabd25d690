import type { Client } from '../operation.ts';
import type { GraphPlugin, OperationContext } from '../plugin.ts';

/** Determines the client that the limits behind it count against. */
export function useClientKey<Context extends OperationContext>(
  clientOf: (context: Context) => Client,
): GraphPlugin {
  return {
    onAdmit(context) {
      context.operation.client = clientOf(context as Context);
      return null;
    },
  };
}
