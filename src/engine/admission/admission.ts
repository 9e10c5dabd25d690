import { clientOf, type RequestCaller } from '../../lib/caller.ts';
import type { Client } from '../../lib/limits/client.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { coerceVariables } from '../documents/coerce-variables.ts';
import type { Documents, PreparedDocument } from '../documents/documents.ts';
import { type RequestedDocument, readParams } from '../documents/params.ts';
import type { PersistedDocuments } from '../documents/persisted-documents.ts';
import { type Refusal, refused, withHeaders } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';
import type { ChargedRequest, ClientLimits } from './client-limits.ts';
import { type CostLimitOptions, priceOperation } from './cost-limit.ts';
import type { Operation } from './operation.ts';
import { selectOperation } from './select-operation.ts';

export interface AdmissionParts extends CostLimitOptions {
  readonly limits: ClientLimits;
  readonly documents: Documents;
  readonly persisted: PersistedDocuments;
}

/**
 * Decides whether an operation is executed, whichever transport brings it. The cheapest step
 * comes first, and nothing of a request is read before its client may send one. Each step takes what the step before it
 * has made, so that no other order compiles; a document that is too dear is refused before it is registered. It waits only where a new document waits for its turn.
 */
export function admit(
  parts: AdmissionParts,
  caller: RequestCaller,
  transport: TransportContext,
): MaybePromise<Operation | Refusal> {
  const { limits, persisted } = parts;
  const charged = limits.charge(caller, transport);
  if (charged.kind === 'refusal') return charged;
  const refuse = (refusal: Refusal) => withHeaders(refusal, charged.headers);
  const params = readParams(charged);
  if (params.kind === 'refusal') return refuse(params);
  const requested = persisted.find(params, transport.record);
  if (requested.kind === 'refusal') return refuse(requested);
  return chain(prepareDocument(parts, requested, charged), (document) => {
    if (document.kind === 'refusal') return refuse(document);
    const operation = judge(parts, transport, requested, charged, document);
    if (operation.kind === 'refusal') return refuse(operation);
    persisted.register(operation.params);
    return operation;
  });
}

function judge(
  parts: AdmissionParts,
  transport: TransportContext,
  requested: RequestedDocument,
  charged: ChargedRequest,
  document: PreparedDocument,
): Operation | Refusal {
  const prepared = selectOperation(document, requested.operationName, transport);
  if (prepared.kind === 'refusal') return prepared;
  const coerced = coerceVariables(prepared, document, requested.variables);
  if (coerced.kind === 'refusal') return coerced;
  const price = priceOperation(parts, prepared, coerced, charged);
  if (price.kind === 'refusal') return price;
  const { caller, client, headers } = charged;
  return {
    kind: 'operation',
    transport,
    signal: caller.signal,
    headers,
    params: requested,
    document,
    prepared,
    values: coerced.values,
    inputs: price.inputs,
    cost: price.cost,
    meter: price.meter,
    clientNow: clientNow(caller),
    client,
    issuedToken: null,
    trace: null,
    events: null,
  };
}

/** Prepares a new document in a turn of its own: a hundred may be received in one turn of the event loop. */
function prepareDocument(
  { documents, scheduler }: Pick<AdmissionParts, 'documents' | 'scheduler'>,
  { trusted, query }: RequestedDocument,
  { client }: ChargedRequest,
): MaybePromise<PreparedDocument | Refusal> {
  if (trusted !== null) return trusted;
  const prepare = () => {
    const result = documents.prepare(query);
    return result.kind === 'invalid' ? refused(result.errors) : result;
  };
  return documents.isPrepared(query) || !scheduler.isSliceOver()
    ? prepare()
    : scheduler.turn(client.key).then(prepare);
}

/** It holds nothing but the caller, which a subscription keeps. */
function clientNow(caller: RequestCaller): () => Client {
  return () => clientOf(caller);
}
