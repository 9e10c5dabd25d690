import type { OnExecuteHookResult } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { GraphPlugin, OperationContext } from '../plugin.ts';
import { CachedResult } from '../response-cache/response-cache.ts';
import { chunksInSlices, WrittenResult } from './json-text.ts';

/** Serializes large results in slices, where a transport would do it in one piece. It comes last. */
export function useWrittenResults(): GraphPlugin {
  return { onExecute: () => written };
}

const written: OnExecuteHookResult<OperationContext> = {
  onExecuteDone({ args: { contextValue }, result, setResult }) {
    const { meter } = contextValue.operation;
    if (!meter.isCostly || result instanceof CachedResult) return;
    const whole = result as ExecutionResult;
    return chunksInSlices(whole, meter).then((chunks) =>
      setResult(new WrittenResult(whole, chunks)),
    );
  },
};
