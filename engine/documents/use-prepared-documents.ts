import { GraphQLError, validate } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { GRAPH, type GraphPlugin, type OperationContext } from '../admission/plugin.ts';
import { type Refusal, refused } from '../admission/refusal.ts';
import { requestError } from '../errors/request-error.ts';
import { overDocuments } from '../limits/use-client-limits.ts';
import type { Documents, PreparedDocument, PreparedOperation } from './documents.ts';

// A comment is no token, but what is remembered of its document holds it.
const CHARACTERS_PER_TOKEN = 64;

/**
 * Parses, limits and validates each document once, and finds the operation in it that is meant. It
 * does so on admission, because it may have to wait: a hundred new documents may be received in one
 * turn of the event loop. A new one costs its client a budget of tokens. What is left to parse and validate are the rules of other plugins. Needs `params`, of useParams and
 * useTrustedDocuments; fills `document` and `prepared`.
 */
export function usePreparedDocuments(
  documents: Documents,
  scheduler: FairScheduler,
  limiter: Limiter,
): GraphPlugin {
  function prepare(context: OperationContext): Refusal | null {
    const { operation } = context;
    const { params, transport, client } = operation;
    const { record } = transport;
    let { document } = operation;
    if (document === null) {
      const text = params.query ?? '';
      const isNew = !documents.isPrepared(text);
      const refusal = isNew ? overDocuments(limiter, context) : null;
      if (refusal !== null) return refusal;
      const result = documents.prepare(text);
      if (isNew) {
        const cost = Math.max(result.tokens, Math.ceil(text.length / CHARACTERS_PER_TOKEN));
        limiter.spend('documents', client, cost);
      }
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
    onAdmit(context) {
      const { document, params, client } = context.operation;
      const isPrepared = document !== null || documents.isPrepared(params.query ?? '');
      return isPrepared || !scheduler.isSliceOver()
        ? prepare(context)
        : scheduler.turn(client.key).then(() => prepare(context));
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
