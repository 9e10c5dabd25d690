import type { ExecuteFunction } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { GraphPlugin, OperationContext } from '../plugin.ts';

interface ExecutionArgs {
  readonly document: unknown;
  readonly contextValue: OperationContext;
}

/**
 * Executes by the reference executor at first, and by compiled code once an operation recurs: each prepared
 * operation has an executor of its own, a CompilingExecutor, which compiles.
 */
export function useCompiledExecution(): GraphPlugin {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(execute as ExecuteFunction);
    },
  };
}

function execute({ document, contextValue }: ExecutionArgs): Eventually<ExecutionResult> {
  const { document: known, prepared, params, values, meter } = contextValue.operation;
  if (document !== known?.document) throw new Error('another document than was admitted');
  return prepared.executor.execute(prepared.args.of(contextValue, values, params.variables), meter);
}
