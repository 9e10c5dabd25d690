import { type GraphPlugin, type OperationContext, onEachResult } from '../plugin.ts';
import { beginTrace, faultOf, type TraceOptions } from './operation-trace.ts';

/** Records the span of each operation, which its calls of the gateway continue. */
export function useTraces(options: TraceOptions): GraphPlugin {
  const { executed, subscribed } = onEachResult(({ args: { contextValue }, result }) => {
    contextValue.operation.trace?.end({ errorType: faultOf(result, options) });
  });
  const begin = ({ operation }: OperationContext) => {
    operation.trace = beginTrace(operation, options);
  };
  return {
    onExecute({ args: { contextValue } }) {
      begin(contextValue);
      return executed;
    },
    onSubscribe({ args: { contextValue } }) {
      begin(contextValue);
      return subscribed;
    },
  };
}
