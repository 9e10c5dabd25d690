import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { SpanAttributes } from '../../lib/tracing/tracing.ts';
import type { Operation } from '../admission/operation.ts';
import { fragmentsOf, unfold } from '../documents/selections.ts';
import type { ErrorCodes } from '../errors/error-codes.ts';
import { isAlwaysTraced } from '../field-traits.ts';

/** The spans of operations, which their calls of backends continue. */
export class OperationTraces {
  readonly #schema: GraphQLSchema;
  readonly #codes: ErrorCodes;

  constructor(schema: GraphQLSchema, codes: ErrorCodes) {
    this.#schema = schema;
    this.#codes = codes;
  }

  /**
   * Begins the span of an operation. It has no document and no variables, which may hold a password, and a name only
   * from a manifest: others are any client's to choose.
   */
  begin(operation: Operation): void {
    const { prepared, document, transport } = operation;
    const { node } = prepared;
    const { record } = transport;
    if (record.trace === null) return;
    const attributes: SpanAttributes = {
      'graphql.operation.type': node.operation,
      ...(record.isTrusted && node.name && { 'graphql.operation.name': node.name.value }),
    };
    const isAlwaysSampled =
      node.operation === 'mutation' && selectsTraced(this.#schema, document.document, node);
    const start = { name: node.operation, attributes, isAlwaysSampled };
    operation.trace = record.trace.operation(start);
  }

  end({ trace }: Operation, result: object): void {
    trace?.end({ errorType: faultOf(result, this.#codes) });
  }
}

/** The code of the first error that is a fault; other errors are an answer like any other. */
function faultOf(result: object, codes: ErrorCodes): string | null {
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
