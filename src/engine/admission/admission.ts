import type { Turns } from '../../lib/event-loop-turns.ts';
import { type Client, clientOf, type RequestCaller } from '../../lib/limits/request-caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { Documents, PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { SizeOf } from '../documents/list-sizes.ts';
import { readParams } from '../documents/params.ts';
import type { RequestedDocument, TrustedDocuments } from '../documents/trusted-documents.ts';
import {
  type Refusal,
  refused,
  requestError,
  tooComplex,
  withHeaders,
} from '../operation/errors.ts';
import { Meter } from '../operation/meter.ts';
import type { ClientLimits } from './client-limits.ts';
import type { Operation, TransportContext } from './operation.ts';

export interface AdmissionParts {
  readonly limits: ClientLimits;
  readonly documents: Documents;
  readonly trusted: TrustedDocuments;
  /** The maximum number of fields that an answer may contain. */
  readonly maxCost: number;
  /** New documents are prepared in turns of their own. */
  readonly turns: Turns;
  readonly sizeOf: SizeOf;
}

/**
 * Decides whether an operation is executed, for every transport. The cheapest step is first, and nothing of a request is
 * read before its client is charged. The result is a promise only if a new document has to wait for its turn.
 */
export function admit(
  parts: AdmissionParts,
  caller: RequestCaller,
  transport: TransportContext,
): MaybePromise<Operation | Refusal> {
  const { limits, documents, trusted, maxCost, sizeOf } = parts;
  const client = clientOf(caller);
  const charged = limits.charge(client);
  if (charged.kind === 'refusal') return charged;
  const { headers } = charged;

  const params = readParams(transport.sent);
  if (params.kind === 'refusal') return withHeaders(params, headers);
  const requested = trusted.find(params, transport.record);
  if (requested.kind === 'refusal') return withHeaders(requested, headers);

  return chain(prepareDocument(parts, requested, client), (document) => {
    if (document.kind === 'refusal') return withHeaders(document, headers);
    const prepared = selectOperation(document, requested.operationName, transport);
    if (prepared.kind === 'refusal') return withHeaders(prepared, headers);

    const { variables, operationName } = requested;
    const { operation: type } = prepared.node;
    const given = { operationName, variableValues: variables };
    const coerced = documents.executionArgs(document.document, given);
    if (coerced.kind === 'refusal') return withHeaders(coerced, headers);
    const facts = prepared.facts.for(coerced.args.variableValues.coerced, sizeOf);
    const { cost } = facts;
    if (cost > maxCost) {
      return withHeaders(refused([tooComplex('MAX_COST', cost, maxCost)]), headers);
    }
    const mayHaveParts = type === 'query' && transport.partsFormat !== null;
    const documentInParts = mayHaveParts ? document.deferring : null;
    const deferring = documentInParts && documents.executionArgs(documentInParts, given);
    if (deferring?.kind === 'refusal') return withHeaders(deferring, headers);
    trusted.logIfUntrusted(requested, document);
    return {
      kind: 'operation',
      transport,
      caller,
      headers,
      params: requested,
      document,
      prepared,
      args: (deferring ?? coerced).args,
      facts,
      cost,
      meter: new Meter(maxCost, facts),
      isInParts: deferring !== null,
      client,
      issuedToken: null,
      live: null,
    };
  });
}

/** Prepares a document. One turn of the event loop may receive a hundred new documents, and each has a turn of its own. */
function prepareDocument(
  { documents, limits, turns }: AdmissionParts,
  { query }: RequestedDocument,
  client: Client,
): MaybePromise<PreparedDocument | Refusal> {
  const prepare = () => {
    const isNew = !documents.isPrepared(query);
    const result = documents.prepare(query);
    if (isNew) limits.chargeTokens(client, result.tokens);
    return result.kind === 'invalid' ? refused(result.errors) : result;
  };
  return documents.isPrepared(query) ? prepare() : turns.next().then(prepare);
}

/** Finds the operation. Refuses mutations by GET, which caches may repeat, and subscriptions without an event format. */
function selectOperation(
  document: PreparedDocument,
  name: string | null,
  { record, mayMutate, takesEvents }: TransportContext,
): PreparedOperation | Refusal {
  const prepared = operationOf(document, name);
  if (prepared === null) {
    const message =
      name === null
        ? 'The document has no operation, or several: name one of them in `operationName`.'
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
  const [only] = operations.values();
  return only && operations.size === 1 ? only : null;
}
