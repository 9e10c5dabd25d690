import type { ExecuteFunction } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import { GRAPH, type GraphPlugin, type PluginContext } from '../plugin.ts';

interface ExecutionArgs {
  readonly document: unknown;
  readonly contextValue: PluginContext;
}

/**
 * Executes by the reference executor at first, and by compiled code once an operation recurs: each prepared
 * operation has an executor of its own, a CompilingExecutor, which compiles. Needs `document` and `prepared` of
 * usePreparedDocuments, `values` of useVariables and the `meter` of useCostLimit.
 */
export function useCompiledExecution(): GraphPlugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute as ExecuteFunction);
    },
  };
}

function execute({ document, contextValue }: ExecutionArgs): Eventually<ExecutionResult> {
  const context = contextValue[GRAPH];
  const { document: known, prepared, params, values, meter } = context.operation;
  if (document !== known?.document) throw new Error('another document than was admitted');
  return prepared.executor.execute(prepared.args.of(context, values, params.variables), meter);
}
