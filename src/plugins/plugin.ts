import type { OnExecuteHookResult, OnSubscribeHookResult, Plugin } from '@envelop/core';
import type { ExecutionResult } from 'graphql';
import type { Eventually } from '../lib/eventually.ts';
import type { Operation } from './operation.ts';
import type { Refusal } from './refusal.ts';

export interface OperationContext extends Record<string, unknown> {
  readonly operation: Operation;
}

/** A plugin of envelop with one hook more, since the others may not wait before an operation is parsed. */
export interface GraphPlugin extends Plugin<OperationContext> {
  /** Runs before an operation is parsed, whichever transport brings it. It may refuse. */
  onAdmit?(context: OperationContext): Eventually<Refusal | null>;
}

/** Another author's: it has some of envelop's hooks, and a context of its own. */
export type OtherPlugin = Partial<Readonly<Record<keyof Plugin, unknown>>>;

interface Done {
  readonly args: { readonly contextValue: OperationContext };
  readonly result: unknown;
  readonly setResult: (result: ExecutionResult) => void;
}

/** Makes the hooks that `onExecute` and `onSubscribe` return to see each result, or the source of a subscription. */
export function onEachResult(done: (done: Done) => void) {
  return {
    executed: { onExecuteDone: done } as OnExecuteHookResult<OperationContext>,
    subscribed: { onSubscribeResult: done } as OnSubscribeHookResult<OperationContext>,
  };
}

type Admit = NonNullable<GraphPlugin['onAdmit']>;

/** Runs the hooks one after the other, up to the first that refuses. Waits only for those that do. */
export function createAdmission(
  plugins: readonly (GraphPlugin | Plugin)[],
  onRefused: (refusal: Refusal, operation: Operation) => void,
): Admit {
  const hooks = plugins.flatMap((plugin) =>
    'onAdmit' in plugin && plugin.onAdmit ? [plugin.onAdmit] : [],
  );
  const from = (first: number, context: OperationContext): Eventually<Refusal | null> => {
    for (let at = first; at < hooks.length; at += 1) {
      const refusal = (hooks[at] as Admit)(context);
      if (refusal instanceof Promise) {
        return refusal.then((settled) =>
          settled === null ? from(at + 1, context) : noted(settled, context),
        );
      }
      if (refusal !== null) return noted(refusal, context);
    }
    return null;
  };
  const noted = (refusal: Refusal, { operation }: OperationContext) => {
    onRefused(refusal, operation);
    return refusal;
  };
  return (context) => from(0, context);
}
