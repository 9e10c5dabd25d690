import type { OnExecuteHookResult } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import { GRAPH, type GraphPlugin, type OperationContext, type PluginContext } from '../plugin.ts';
import { CachedResult } from '../response-cache/response-cache.ts';

/** The cost of a result. */
export interface RunCost {
  readonly cost: number;
  readonly fields: number;
  /** The time for which an event was delayed by its account's token bucket. */
  readonly waitedMs: number;
}

/** The `extensions` of a result. */
export type ReceiptOf<Context> = (
  context: Context,
  run: RunCost,
) => Readonly<Record<string, unknown>>;

/** Reports in each answer what it cost behind the facade. Needs `cost` and `meter` of useCostLimit. */
export function useReceipts<Context extends OperationContext>(
  receiptOf: ReceiptOf<Context>,
): GraphPlugin {
  const reported: OnExecuteHookResult<PluginContext> = {
    onExecuteDone({ args: { contextValue }, result, setResult }) {
      const context = contextValue[GRAPH] as Context;
      const { cost, meter } = context.operation;
      const run = { cost, fields: meter.fields, waitedMs: 0 };
      const extensions = receiptOf(context, run);
      if (result instanceof CachedResult) setResult(result.withExtensions(extensions));
      else setResult({ ...(result as ExecutionResult), extensions });
    },
  };
  return { onExecute: () => reported };
}
