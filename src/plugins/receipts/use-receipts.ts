import type { OnExecuteHookResult } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { GraphPlugin, OperationContext } from '../plugin.ts';
import { CachedResult } from '../response-cache/cached-result.ts';

/** The `extensions` of a result; null where it has none. */
export type ReceiptOf<Context> = (
  context: Context,
  run: { readonly cost: number; readonly fields: number; readonly waitedMs: number },
) => Readonly<Record<string, unknown>>;

/** Reports in each answer what it cost behind the facade. */
export function useReceipts<Context extends OperationContext>(
  receiptOf: ReceiptOf<Context>,
): GraphPlugin {
  const reported: OnExecuteHookResult<OperationContext> = {
    onExecuteDone({ args: { contextValue }, result, setResult }) {
      const { cost, meter } = contextValue.operation;
      const run = { cost, fields: meter.fields, waitedMs: 0 };
      const extensions = receiptOf(contextValue as Context, run);
      if (result instanceof CachedResult) setResult(result.withExtensions(extensions));
      else setResult({ ...(result as ExecutionResult), extensions });
    },
  };
  return { onExecute: () => reported };
}
