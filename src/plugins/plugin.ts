import type { Plugin } from '@envelop/core';
import { type DocumentNode, print } from 'graphql';
import type { Eventually } from '../lib/eventually.ts';
import type { Operation } from './operation.ts';
import type { Refusal } from './refusal.ts';

/** The key under which a context has all that is the service's own: every other name is free for other plugins. */
export const GRAPH = Symbol('graph');

export interface OperationContext {
  readonly operation: Operation;
}

/** A context as envelop's hooks are given it, which plugins extend. */
export interface PluginContext extends Record<PropertyKey, unknown> {
  readonly [GRAPH]: OperationContext;
}

/** The arguments of an execution as other plugins hand them on. */
export interface GivenArgs {
  readonly document: DocumentNode;
  readonly variableValues?: unknown;
  readonly contextValue: PluginContext;
}

/** The context of what was admitted: a plugin may copy its document, but neither change it nor the variables. */
export function admitted({ document, variableValues, contextValue }: GivenArgs): OperationContext {
  const context = contextValue[GRAPH];
  const { document: prepared, params } = context.operation;
  const known = prepared?.document;
  const isKnown = document === known || (known && print(document) === print(known));
  if (isKnown && variableValues === params.variables) return context;
  throw new Error('another document, or other variables, than were admitted');
}

/** A plugin of envelop with one hook more, since the others may not wait before an operation is parsed. */
export interface GraphPlugin extends Plugin<PluginContext> {
  /** Runs before an operation is parsed, whichever transport brings it. It may refuse. */
  onAdmit?(context: OperationContext): Eventually<Refusal | null>;
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
