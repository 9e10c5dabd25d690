import type { OnExecuteHookResult } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import { GRAPH, type GraphPlugin, type PluginContext } from '../admission/plugin.ts';
import { CachedResult } from '../response-cache/response-cache.ts';

/** Reports in each answer what it cost behind the facade. Needs `cost` and `meter` of useCostLimit. */
export function useReceipts(): GraphPlugin {
  const reported: OnExecuteHookResult<PluginContext> = {
    onExecuteDone({ args: { contextValue }, result, setResult }) {
      const context = contextValue[GRAPH];
      const { cost, meter } = context.operation;
      const extensions = context.receipt({ cost, fields: meter.fields, waitedMs: 0 });
      if (result instanceof CachedResult) setResult(result.withExtensions(extensions));
      else setResult({ ...(result as ExecutionResult), extensions });
    },
  };
  return { onExecute: () => reported };
}
