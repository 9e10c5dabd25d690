import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { TransportContext } from '../operation/transport-context.ts';

/** Finds the operation that is meant. Refuses a mutation by GET, which caches may repeat, and events nobody accepts. */
export function selectOperation(
  document: PreparedDocument,
  name: string | null,
  { record, mayMutate, takesEvents }: TransportContext,
): PreparedOperation | Refusal {
  const prepared = operationOf(document, name);
  if (prepared === null) {
    const message =
      name === null
        ? 'The document has several operations: `operationName` says which one is meant.'
        : 'The document has no operation of that name.';
    return refused([requestError('GRAPHQL_VALIDATION_FAILED', message)]);
  }
  const { node, logName } = prepared;
  record.type = node.operation;
  record.operationName = record.isTrusted ? (node.name?.value ?? null) : logName;
  if (node.operation === 'mutation' && !mayMutate) {
    const error = requestError('BAD_USER_INPUT', 'Mutations are sent by POST.');
    return refused([error], 405, { allow: 'POST' });
  }
  if (node.operation === 'subscription' && !takesEvents) {
    const message =
      'A subscription needs text/event-stream, or multipart/mixed with subscriptionSpec="1.0".';
    return refused([requestError('NOT_ACCEPTABLE', message)], 406);
  }
  return prepared;
}

function operationOf(
  { operations }: PreparedDocument,
  name: string | null,
): PreparedOperation | null {
  if (name !== null) return operations.get(name) ?? null;
  const [only, ...others] = operations.values();
  return only && others.length === 0 ? only : null;
}
