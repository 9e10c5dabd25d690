import type { RequestCaller } from '../../lib/caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { coerceVariables } from '../documents/coerce-variables.ts';
import type { Documents, PreparedDocument } from '../documents/documents.ts';
import { type RequestedDocument, readParams } from '../documents/params.ts';
import type { PersistedDocuments } from '../documents/persisted-documents.ts';
import { type Refusal, refused, withHeaders } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';
import type { ClientLimits, PassedRequest } from './client-limits.ts';
import { type CostLimitOptions, priceOperation } from './cost-limit.ts';
import { overMemory } from './memory-limit.ts';
import type { Operation } from './operation.ts';
import { selectOperation } from './select-operation.ts';

// A comment is no token, but what is remembered of its document holds it.
const CHARACTERS_PER_TOKEN = 64;

export interface AdmissionParts extends CostLimitOptions {
  readonly limits: ClientLimits;
  readonly documents: Documents;
  readonly persisted: PersistedDocuments;
  readonly isMemoryShort: () => boolean;
}

/**
 * Decides whether an operation is executed, whichever transport brings it. The cheapest step
 * comes first, and nothing of a request is read before its client may send one. Each step takes what the step before it
 * has made, so that no other order compiles; a document that is too dear is refused before it is registered, and a new one
 * before it is prepared where its client has sent too many. It waits only where a new document waits for its turn.
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
  const passed = limits.pass(charged, requested);
  if (passed.kind === 'refusal') return refuse(passed);
  return chain(prepareDocument(parts, requested, passed), (document) => {
    if (document.kind === 'refusal') return refuse(document);
    const operation = judge(parts, transport, requested, passed, document);
    if (operation.kind === 'refusal') return refuse(operation);
    persisted.register(operation.params);
    return operation;
  });
}

function judge(
  parts: AdmissionParts,
  transport: TransportContext,
  requested: RequestedDocument,
  passed: PassedRequest,
  document: PreparedDocument,
): Operation | Refusal {
  const { limits, isMemoryShort } = parts;
  const prepared = selectOperation(document, requested.operationName, transport);
  if (prepared.kind === 'refusal') return prepared;
  const coerced = coerceVariables(prepared, document, requested.variables);
  if (coerced.kind === 'refusal') return coerced;
  const price = priceOperation(parts, prepared, coerced, passed);
  if (price.kind === 'refusal') return price;
  const refusal = isMemoryShort() ? overMemory(prepared, price.cost) : null;
  if (refusal !== null) return refusal;
  const { caller, client, headers, overLimit } = passed;
  return {
    kind: 'operation',
    transport,
    signal: caller.signal,
    headers,
    usesReserve: overLimit !== null,
    params: requested,
    document,
    prepared,
    values: coerced.values,
    inputs: price.inputs,
    cost: price.cost,
    meter: price.meter,
    clientNow: limits.clientNow(caller),
    client,
    isRefunded: false,
    issuedToken: null,
    trace: null,
    events: null,
  };
}

/** Prepares a new document in a turn of its own: a hundred may be received in one turn of the event loop. */
function prepareDocument(
  parts: Pick<AdmissionParts, 'limits' | 'documents' | 'scheduler'>,
  { trusted, query }: RequestedDocument,
  passed: PassedRequest,
): MaybePromise<PreparedDocument | Refusal> {
  const { limits, documents, scheduler } = parts;
  if (trusted !== null) return trusted;
  const prepare = () => {
    const isNew = !documents.isPrepared(query);
    const refusal = isNew ? limits.overDocuments(passed) : null;
    if (refusal !== null) return refusal;
    const result = documents.prepare(query);
    const tokens = Math.max(result.tokens, Math.ceil(query.length / CHARACTERS_PER_TOKEN));
    if (isNew) limits.limiter.spend('documents', passed.client, tokens);
    return result.kind === 'invalid' ? refused(result.errors) : result;
  };
  return documents.isPrepared(query) || !scheduler.isSliceOver()
    ? prepare()
    : scheduler.turn(passed.client.key).then(prepare);
}
