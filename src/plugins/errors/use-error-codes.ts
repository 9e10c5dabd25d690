import type { ExecutionResult } from 'graphql';
import { type GraphPlugin, onEachResult } from '../plugin.ts';
import type { ErrorCodes } from './error-codes.ts';

/** Masks the errors of results. It stands before all whose hooks are to see no other errors. */
export function useErrorCodes(codes: ErrorCodes): GraphPlugin {
  const { executed, subscribed } = onEachResult(({ args: { contextValue }, result, setResult }) => {
    const { errors } = result as ExecutionResult;
    if (errors === undefined) return;
    const masked = codes.masked(errors, contextValue.operation.transport);
    setResult({ ...(result as ExecutionResult), errors: masked });
  });
  return { onExecute: () => executed, onSubscribe: () => subscribed };
}
