import type { OnExecuteHookResult, OnSubscribeHookResult } from '@envelop/core';
import type { GraphPlugin, OperationContext } from '../plugin.ts';
import { beginTrace, faultOf, type TraceOptions } from './operation-trace.ts';

interface Done {
  readonly args: { readonly contextValue: OperationContext };
  readonly result: unknown;
}

/** Records the span of each operation, which its calls of the gateway continue. */
export function useTraces(options: TraceOptions): GraphPlugin {
  function end({ args: { contextValue }, result }: Done): void {
    contextValue.operation.trace?.end({ errorType: faultOf(result, options) });
  }
  const executed = { onExecuteDone: end } as OnExecuteHookResult<OperationContext>;
  const subscribed = { onSubscribeResult: end } as OnSubscribeHookResult<OperationContext>;
  return {
    onExecute({ args: { contextValue } }) {
      contextValue.operation.trace = beginTrace(contextValue.operation, options);
      return executed;
    },
    onSubscribe({ args: { contextValue } }) {
      contextValue.operation.trace = beginTrace(contextValue.operation, options);
      return subscribed;
    },
  };
}
