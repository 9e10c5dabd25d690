import type { GraphQLSchema } from 'graphql';
import type { RequestCaller } from '../../lib/caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { type AdmissionParts, admit } from '../admission/admission.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { Execution, OpenedOperation } from '../execution/execution.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import type { Refusal } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';
import { envelopOperations } from './enveloped-operations.ts';
import { PluginErrorBoundary } from './error-boundary.ts';
import type { OpenPlugins } from './open-plugins.ts';
import { PluginView, REQUEST } from './plugin-view.ts';

export interface GraphParts {
  readonly schema: GraphQLSchema;
  readonly admission: AdmissionParts;
  readonly execution: Execution;
  readonly codes: ErrorCodes;
  /** Other people's. */
  readonly plugins: OpenPlugins;
  /** Makes the context with which the operation's resolvers read. */
  readonly createContext: (caller: RequestCaller, operation: Operation) => OperationContext;
}

export type Graph = ReturnType<typeof createGraph>;

/** Answers the operations of all transports: it admits each, and then executes it. */
export function createGraph(parts: GraphParts) {
  const { schema, plugins, codes, createContext, execution } = parts;
  const pluginErrors = new PluginErrorBoundary(schema, codes, plugins);
  // Null where there are no plugins, and so nothing between an operation and its execution.
  const openEnveloped = plugins.hooks.length > 0 ? envelopOperations(parts, pluginErrors) : null;
  return {
    schema,
    plugins,
    codes,
    /** For hooks of yoga's HTTP as well. */
    pluginErrors,
    /** Opens an operation, or refuses it; waits for a document's turn or a plugin alone. `view`: what yoga's plugins have seen. */
    open(
      caller: RequestCaller,
      transport: TransportContext,
      view?: PluginView,
    ): MaybePromise<OpenedOperation | Refusal> {
      return chain(
        // The hooks of plugins see one result.
        admit(
          parts.admission,
          caller,
          openEnveloped ? { ...transport, partsFormat: null } : transport,
        ),
        (operation): MaybePromise<OpenedOperation | Refusal> => {
          if ('errors' in operation) {
            codes.refused(operation.errors, transport.record);
            return operation;
          }
          if (view !== undefined) view[REQUEST].operation = operation;
          const context = createContext(caller, operation);
          return openEnveloped === null
            ? { operation, start: () => execution.start(context) }
            : openEnveloped(context, view ?? new PluginView(caller, transport));
        },
      );
    },
  };
}
