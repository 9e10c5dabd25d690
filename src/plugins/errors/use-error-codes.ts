import type { OnExecuteHookResult, OnSubscribeHookResult } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { GraphPlugin, OperationContext } from '../plugin.ts';
import type { ErrorCodes } from './error-codes.ts';

interface Done {
  readonly args: { readonly contextValue: OperationContext };
  readonly result: unknown;
  readonly setResult: (result: ExecutionResult) => void;
}

/** Masks the errors of results. It stands before all whose hooks are to see no other errors. */
export function useErrorCodes(codes: ErrorCodes): GraphPlugin {
  function mask({ args: { contextValue }, result, setResult }: Done): void {
    const { errors } = result as ExecutionResult;
    if (errors === undefined) return;
    const masked = codes.masked(errors, contextValue.operation.transport);
    setResult({ ...(result as ExecutionResult), errors: masked });
  }
  const executed = { onExecuteDone: mask } as OnExecuteHookResult<OperationContext>;
  const subscribed = { onSubscribeResult: mask } as OnSubscribeHookResult<OperationContext>;
  return { onExecute: () => executed, onSubscribe: () => subscribed };
}
