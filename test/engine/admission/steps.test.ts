import { expect, test } from 'vitest';
import {
  type AdmissionParts,
  type admit,
  prepareDocument,
} from '../../../engine/admission/admission.ts';
import type { TransportContext } from '../../../engine/admission/operation.ts';

import type { Refusal } from '../../../engine/admission/refusal.ts';
import { selectOperation } from '../../../engine/admission/select-operation.ts';
import { priceOperation } from '../../../engine/cost/cost-limit.ts';
import { coerceVariables } from '../../../engine/documents/coerce-variables.ts';
import type { ClientLimits } from '../../../engine/limits/client-limits.ts';
import { overMemory } from '../../../engine/limits/memory-limit.ts';
import { readParams } from '../../../engine/params/params.ts';
import type { PersistedDocuments } from '../../../engine/trusted-documents/persisted-documents.ts';

type Made<Step extends (...given: never[]) => unknown> = Exclude<
  Awaited<ReturnType<Step>>,
  Refusal
>;

/** The results of the steps, as far as each is made. */
interface Results {
  readonly charged: Made<ClientLimits['charge']>;
  readonly params: Made<typeof readParams>;
  readonly requested: Made<PersistedDocuments['find']>;
  readonly passed: Made<ClientLimits['pass']>;
  readonly document: Made<typeof prepareDocument>;
  readonly selected: Made<typeof selectOperation>;
}

/** Each step is given what there is before the step that it follows. */
function swapped(parts: AdmissionParts, transport: TransportContext, results: Results): unknown[] {
  const { charged, params, requested, passed, document, selected } = results;
  const { limits, persisted } = parts;
  return [
    // @ts-expect-error: its client is not charged yet
    readParams(transport),
    // @ts-expect-error: its parameters are not read yet
    persisted.find(charged, transport.record),
    // @ts-expect-error: the text of its document is not found yet
    limits.pass(charged, params),
    // @ts-expect-error: its client may not send it yet
    prepareDocument(parts, requested, charged),
    // @ts-expect-error: its document is not prepared yet
    selectOperation(requested, params.operationName, transport),
    // @ts-expect-error: its operation is not selected yet
    coerceVariables(document, document, params.variables),
    // @ts-expect-error: its variables are not coerced yet
    priceOperation(parts, selected, params, passed),
    // @ts-expect-error: its cost is not known yet
    overMemory(selected),
  ];
}

/** What was admitted stays as it is. */
function changed(admitted: Made<typeof admit>, { document }: Results): void {
  // @ts-expect-error: it is readonly
  admitted.document = document;
}

test('steps of admission that are swapped do not compile', () => {
  expect([swapped, changed].map((each) => each.length)).toEqual([3, 2]);
});
