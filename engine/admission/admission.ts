import type { RequestCaller } from '../../lib/caller.ts';
import { after, type Eventually } from '../../lib/eventually.ts';
import { type CostLimitOptions, priceOperation } from '../cost/cost-limit.ts';
import { coerceVariables } from '../documents/coerce-variables.ts';
import type { PreparedDocument } from '../documents/documents.ts';
import type { ChargedRequest, PassedRequest } from '../limits/client-limits.ts';
import { overMemory } from '../limits/memory-limit.ts';
import { type RequestedDocument, readParams } from '../params/params.ts';
import type { PersistedDocuments } from '../trusted-documents/persisted-documents.ts';
import type { Operation, TransportContext } from './operation.ts';
import { type PreparationParts, prepareDocument } from './prepare-document.ts';
import { type Refusal, withHeaders } from './refusal.ts';
import { selectOperation } from './select-operation.ts';

export interface AdmissionParts extends PreparationParts, CostLimitOptions {
  readonly persisted: PersistedDocuments;
  readonly isMemoryShort: () => boolean;
}

/**
 * Decides whether an operation is executed, before any plugin sees it, whichever transport brings it. The cheapest step
 * comes first, and nothing of a request is read before its client may send one. It waits only where a new document
 * waits for its turn.
 */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  admit(caller: RequestCaller, transport: TransportContext): Eventually<Operation | Refusal> {
    const charged = this.#parts.limits.charge(caller, transport);
    if ('errors' in charged) return charged;
    return after(this.#read(charged, transport), (outcome) =>
      'errors' in outcome ? withHeaders(outcome, charged.headers) : outcome,
    );
  }

  #read(charged: ChargedRequest, transport: TransportContext): Eventually<Operation | Refusal> {
    const { limits, persisted } = this.#parts;
    const params = readParams(charged);
    if ('errors' in params) return params;
    const requested = persisted.find(params, transport.record);
    if ('errors' in requested) return requested;
    const passed = limits.pass(charged, requested);
    if ('errors' in passed) return passed;
    const preparing = prepareDocument(this.#parts, requested, passed);
    return after(preparing, (document) =>
      'errors' in document ? document : this.#judge(transport, requested, passed, document),
    );
  }

  #judge(
    transport: TransportContext,
    requested: RequestedDocument,
    passed: PassedRequest,
    document: PreparedDocument,
  ): Operation | Refusal {
    const selected = selectOperation(document, requested.operationName, transport);
    if ('errors' in selected) return selected;
    const coerced = coerceVariables(selected, requested.variables);
    if ('errors' in coerced) return coerced;
    const price = priceOperation(this.#parts, selected.prepared, coerced, passed);
    if ('errors' in price) return price;
    const refusal = this.#parts.isMemoryShort() ? overMemory(price) : null;
    if (refusal !== null) return refusal;
    const { inputs, cost, meter } = price;
    const { caller, client, headers, overLimit } = passed;
    return {
      transport,
      signal: caller.signal,
      headers,
      isReserved: overLimit !== null,
      params: requested,
      document,
      prepared: selected.prepared,
      values: coerced.values,
      inputs,
      cost,
      meter,
      clientNow: this.#parts.limits.clientNow(caller),
      client,
      isGivenBack: false,
      trace: null,
      events: null,
    };
  }
}
