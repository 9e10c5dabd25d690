import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { SpanAttributes } from '../../lib/tracing/tracing.ts';
import type { Operation } from '../admission/operation.ts';
import { GRAPH, type GraphPlugin, type PluginContext } from '../admission/plugin.ts';
import { fragmentsOf, unfold } from '../documents/selections.ts';
import type { ErrorCodes } from '../errors/error-codes.ts';
import { isAlwaysTraced } from '../field-traits.ts';

/**
 * Records the span of each operation, which its calls of backends continue. Needs `document` and `prepared` of
 * usePreparedDocuments, and masked errors; fills `trace`.
 */
export function useTraces(schema: GraphQLSchema, codes: ErrorCodes): GraphPlugin {
  const end = ({ args, result }: Done) =>
    args.contextValue[GRAPH].operation.trace?.end({ errorType: faultOf(result, codes) });
  const begin = ({ args }: Pick<Done, 'args'>) =>
    beginTrace(args.contextValue[GRAPH].operation, schema);
  const executed = { onExecuteDone: (done: Done) => void end(done) };
  const subscribed = { onSubscribeResult: (done: Done) => void end(done) };
  return {
    onExecute(given) {
      begin(given);
      return executed;
    },
    onSubscribe(given) {
      begin(given);
      return subscribed;
    },
  };
}

interface Done {
  readonly args: { readonly contextValue: PluginContext };
  readonly result: unknown;
}

/**
 * Begins the span of an operation, where tracing is on. It has no document and no variables,
 * which may hold a password, and a name only from a manifest: others are any client's to choose.
 */
function beginTrace(operation: Operation, schema: GraphQLSchema): void {
  const { prepared, document, transport } = operation;
  const { node } = prepared;
  const { record } = transport;
  if (record.trace === null) return;
  const attributes: SpanAttributes = {
    'graphql.operation.type': node.operation,
    ...(record.isTrusted && node.name && { 'graphql.operation.name': node.name.value }),
  };
  const isAlwaysSampled =
    document !== null &&
    node.operation === 'mutation' &&
    selectsTraced(schema, document.document, node);
  const start = { name: node.operation, attributes, isAlwaysSampled };
  operation.trace = record.trace.operation(start);
}

/** The code of the first error that is a fault; other errors are an answer like any other. */
function faultOf(result: unknown, codes: ErrorCodes): string | null {
  const errors = (result as ExecutionResult).errors ?? [];
  const code = errors.find(({ extensions }) => codes.isFault(extensions?.code))?.extensions?.code;
  return typeof code === 'string' ? code : null;
}

/** Whether it may select a field that is always traced, whatever `@skip` and `@include` leave of it. */
function selectsTraced(
  schema: GraphQLSchema,
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const fields = schema.getMutationType()?.getFields() ?? {};
  let isTraced = false;
  unfold(selectionSet, fragmentsOf(document), ({ kind, name }) => {
    const field = kind === Kind.FIELD ? fields[name.value] : undefined;
    isTraced ||= field !== undefined && isAlwaysTraced(field);
  });
  return isTraced;
}
