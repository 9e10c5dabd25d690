import type { ExecuteFunction } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import { admitted, type GivenArgs, type GraphPlugin } from '../admission/plugin.ts';

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

function execute(given: GivenArgs): Eventually<ExecutionResult> {
  const context = admitted(given);
  const { prepared, params, values, meter } = context.operation;
  return prepared.executor.execute(prepared.args.of(context, values, params.variables), meter);
}
