import type { Plugin } from '@envelop/core';
import { type DocumentNode, print } from 'graphql';
import type { RequestCaller } from '../../lib/caller.ts';
import { after, type Eventually } from '../../lib/eventually.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { CostInputs } from '../cost/amount.ts';
import type { Operation } from './operation.ts';
import type { Refusal } from './refusal.ts';

/** The key under which a context has all that is the service's own: every other name is free for other plugins. */
export const GRAPH = Symbol('graph');

/** The cost of a result. */
export interface RunCost {
  readonly cost: number;
  readonly fields: number;
  /** The time for which an event was delayed by its account's token bucket. */
  readonly waitedMs: number;
}

/** The content and the audience for which the fields that an operation reads are the same. */
export interface Validity {
  /** Names the content, and who shares it. */
  readonly version: string;
  /** Names the copy of that content as well. */
  readonly copy: string;
  readonly freshSeconds: number;
}

/** A context that records what the fields have read. */
export interface ReadingContext {
  /** True once they have read a value of the viewer or of one request, even against their marks. */
  readonly isPersonal: boolean;
  /** True once they have read what differs between the subscribers to one account. */
  readonly readsShared: boolean;
  /** The `extensions` of a result. */
  receipt(run: RunCost): Readonly<Record<string, unknown>>;
}

/** The context of one operation, and what plugins ask of its schema's side. */
export interface OperationContext extends ReadingContext {
  readonly caller: RequestCaller;
  readonly operation: Operation;
  /** The context as other plugins see it; null where there are none. */
  forPlugins: object | null;
  /** Returns the client that is charged: the account, once it is proved. The function does not retain the context. */
  readonly clientNow: () => Client;
  /** The hash of a token that is surely no forged one; null where there is none. */
  readonly knownToken: string | null;
  /** How long the lists are that the answer may contain. */
  costInputs(): CostInputs;
  /** Proves the viewer before anything cached is sent; throws or rejects where execution reports why. */
  validity(): Eventually<Validity>;
  /** Makes the contexts of a subscription's events, which outlive the operation's own. */
  eventContexts(): () => ReadingContext;
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
        return refusal.then((settled) => settled ?? from(at + 1, context));
      }
      if (refusal !== null) return refusal;
    }
    return null;
  };
  return (context) =>
    after(from(0, context), (refusal) => {
      if (refusal !== null) onRefused(refusal, context.operation);
      return refusal;
    });
}
