import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Eventually } from '../../lib/eventually.ts';
import type { OperationTrace, RequestTrace, SpanAttributes } from '../../lib/tracing/tracing.ts';
import type { Code } from '../../schema/error-codes.ts';

export interface TracedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  /** A manifest has the document; other names are any client's to choose, and of any number. */
  readonly isTrusted: boolean;
}

const ORDER_RESULT = 'PlaceOrderResult';

// The codes of which neither the client nor the user is the cause.
const FAULTS: ReadonlySet<unknown> = new Set<Code>([
  'GATEWAY_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
  'GATEWAY_CONTRACT',
  'OUTCOME_UNKNOWN',
  'IDEMPOTENCY_UNAVAILABLE',
  'INTERNAL',
]);

/** Begins the span of an operation. It has no document and no variables, which may hold a password. */
export function traceOperation(request: RequestTrace, operation: TracedOperation): OperationTrace {
  const { node, isTrusted } = operation;
  const attributes: SpanAttributes = {
    'graphql.operation.type': node.operation,
    ...(isTrusted && node.name && { 'graphql.operation.name': node.name.value }),
  };
  const isAlwaysSampled = node.operation === 'mutation' && placesOrder(operation);
  return request.operation({ name: node.operation, attributes, isAlwaysSampled });
}

/** Ends the operation's span with what it results in. */
export function tracedResult<T extends object>(
  trace: OperationTrace,
  run: () => Eventually<T>,
): Eventually<T> {
  const failed = (error: unknown): never => {
    trace.end({ errorType: 'INTERNAL' });
    throw error;
  };
  const ended = (result: T): T => {
    trace.end({ errorType: faultOf(result) });
    return result;
  };
  try {
    const result = run();
    return result instanceof Promise ? result.then(ended, failed) : ended(result);
  } catch (error) {
    return failed(error);
  }
}

/** The code of the first error that is a fault; other errors are an answer like any other. */
function faultOf(result: object): string | null {
  const errors = 'errors' in result && Array.isArray(result.errors) ? result.errors : [];
  const code: unknown = errors.find(({ extensions }) => FAULTS.has(extensions?.code))?.extensions
    .code;
  return typeof code === 'string' ? code : null;
}

/** Whether it may place an order, whatever `@skip` and `@include` leave of it. */
function placesOrder({ schema, document, node }: TracedOperation): boolean {
  const fields = schema.getMutationType()?.getFields() ?? {};
  const visited = new Set<SelectionSetNode>();
  const isIn = (set: SelectionSetNode): boolean => {
    if (visited.has(set)) return false;
    visited.add(set);
    return set.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) {
        const field = fields[selection.name.value];
        return field !== undefined && getNamedType(field.type).name === ORDER_RESULT;
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) return isIn(selection.selectionSet);
      const fragment = document.definitions.find(
        (each) =>
          each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value,
      );
      return fragment?.kind === Kind.FRAGMENT_DEFINITION && isIn(fragment.selectionSet);
    });
  };
  return isIn(node.selectionSet);
}
