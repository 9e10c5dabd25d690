import { GraphQLError, validate } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { requestError } from '../errors/request-error.ts';
import type { Operation } from '../operation.ts';
import { GRAPH, type GraphPlugin } from '../plugin.ts';
import { type Refusal, refused } from '../refusal.ts';
import type { Documents, PreparedDocument, PreparedOperation } from './documents.ts';

/**
 * Parses, limits and validates each document once, and finds the operation in it that is meant. It
 * does so on admission, because it may have to wait: a hundred new documents may be received in one
 * turn of the event loop. What is left to parse and validate are the rules of other plugins. Needs `params`, of useParams and
 * useTrustedDocuments; fills `document` and `prepared`.
 */
export function usePreparedDocuments(documents: Documents, scheduler: FairScheduler): GraphPlugin {
  function prepare(operation: Operation): Refusal | null {
    const { params, transport } = operation;
    const { record } = transport;
    let { document } = operation;
    if (document === null) {
      const result = documents.prepare(params.query ?? '');
      if ('errors' in result) return refused(result.errors);
      document = result;
    }
    const prepared = pickOperation(document, params.operationName);
    if (prepared instanceof GraphQLError) return refused([prepared]);
    operation.document = document;
    operation.prepared = prepared;
    record.type = prepared.node.operation;
    record.operationName = record.isTrusted
      ? (prepared.node.name?.value ?? null)
      : prepared.logName;
    return null;
  }

  return {
    onAdmit({ operation }) {
      const { document, params, client } = operation;
      const isPrepared = document !== null || documents.isPrepared(params.query ?? '');
      return isPrepared || !scheduler.isSliceOver()
        ? prepare(operation)
        : scheduler.turn(client.key).then(() => prepare(operation));
    },
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[GRAPH].operation.document?.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
  };
}

/** The specification's own rules have passed. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) =>
  rules.length === 0 ? [] : validate(schema, document, rules, ...more);

function pickOperation(
  { operations }: PreparedDocument,
  name: string | null,
): PreparedOperation | GraphQLError {
  const [only, ...others] = operations.values();
  if (name === null && only && others.length === 0) return only;
  const named = name === null ? undefined : operations.get(name);
  if (named) return named;
  const message =
    name === null
      ? 'The document has several operations: `operationName` says which one is meant.'
      : 'The document has no operation of that name.';
  return requestError('GRAPHQL_VALIDATION_FAILED', message);
}
