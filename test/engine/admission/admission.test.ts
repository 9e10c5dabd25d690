import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { admit } from '../../../src/engine/admission/admission.ts';
import { ClientLimits } from '../../../src/engine/admission/client-limits.ts';
import type { Operation } from '../../../src/engine/admission/operation.ts';
import { Documents } from '../../../src/engine/documents/documents.ts';
import { TrustedDocuments } from '../../../src/engine/documents/trusted-documents.ts';
import { RequestSummary } from '../../../src/engine/operation/request-summary.ts';
import { FairScheduler } from '../../../src/lib/fair-scheduler.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const schema = buildSchema('type Query { field: Int } type Mutation { write: Int }');
const documents = new Documents({
  schema,
  limits: { maxTokens: 100, maxDepth: 10, maxAliases: 10, maxDirectives: 10 },
  introspection: true,
});
const clock = createScriptedClock();
const log = { info() {}, warn() {} };
const parts = {
  limits: new ClientLimits(
    createTestLimiter({ ...limited('requests', 100), ...limited('fields', 1_000) }, clock),
  ),
  documents,
  trusted: await TrustedDocuments.open({ path: null, trustedOnly: 'off', documents, clock, log }),
  maxCost: 1_000,
  scheduler: new FairScheduler(),
  sizeOf: () => 1,
};

test.each([
  ['query { field }', true],
  ['mutation { write }', false],
])('after its client has disconnected, the execution of %s ends: %s', async (query, isEnded) => {
  const leaving = new AbortController();
  const origin = { requestId: 'r', transport: 'http', method: 'POST', client: null } as const;
  const admitted = await admit(
    parts,
    { token: null, signal: leaving.signal },
    {
      sent: { query },
      record: new RequestSummary(origin),
      mayMutate: true,
      takesEvents: false,
      partsFormat: null,
      headers: {},
      reportsEnd: undefined,
    },
  );
  expect(admitted.kind).toBe('operation');
  leaving.abort();
  expect((admitted as Operation).meter.isOverNow()).toBe(isEnded);
});
