import { hash } from 'node:crypto';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Documents } from '../../../src/plugins/documents/documents.ts';
import { Operation, type TransportContext } from '../../../src/plugins/operation.ts';
import type { OperationContext } from '../../../src/plugins/plugin.ts';
import { PersistedTexts } from '../../../src/plugins/trusted-documents/persisted-texts.ts';
import type { TrustedDocuments } from '../../../src/plugins/trusted-documents/trusted-documents.ts';
import { useTrustedDocuments } from '../../../src/plugins/trusted-documents/use-trusted-documents.ts';

const limits = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };
const documents = new Documents({
  schema: buildSchema('type Query { a: Int }'),
  limits,
  introspection: true,
});
const known = { text: '{ a }', prepared: documents.prepare('{ a }') };
const trusted = {
  byId: (id: string) => (id === 'published' ? known : undefined),
  byText: (text: string) => (text === known.text ? known : undefined),
} as unknown as TrustedDocuments;

function contextOf(query: string | null, documentId: string | null): OperationContext {
  const record = { type: null, isTrusted: false, operationName: null, failed() {} };
  const operation = new Operation({ record } as unknown as TransportContext, undefined);
  operation.params = { query, documentId, operationName: null, variables: {} };
  return { operation };
}

function setUp() {
  const options = {
    registered: new PersistedTexts(),
    trustedOnly: 'off',
    log: { warn() {} },
  } as const;
  return useTrustedDocuments({ ...options, trusted });
}

test.each([
  [null, 'published'],
  ['{ a }', 'published'],
  ['{ a }', null],
])('a trusted document is found without preparing it, by its id and by its text', (query, id) => {
  const context = contextOf(query, id);
  expect(setUp().onAdmit?.(context)).toBeNull();
  expect(context.operation.document).toBe(known.prepared);
  expect(context.operation.transport.record.isTrusted).toBe(true);
  expect(context.operation.params.query).toBe('{ a }');
});

test('a text is registered under its hash once it is valid, and other plugins see it', () => {
  const plugin = setUp();
  const id = hash('sha256', '{ b: a }', 'hex');
  const refusal = { errors: [{ message: 'PersistedQueryNotFound' }] };
  expect(plugin.onAdmit?.(contextOf(null, id))).toMatchObject(refusal);
  const context = contextOf('{ b: a }', id);
  expect(plugin.onAdmit?.(context)).toBeNull();
  expect(plugin.onAdmit?.(contextOf(null, id))).toMatchObject(refusal);
  plugin.onValidate?.({ context } as never);
  const later = contextOf(null, id);
  expect(plugin.onAdmit?.(later)).toBeNull();
  expect(later.operation.params.query).toBe('{ b: a }');
  expect(later.operation.document).toBeNull();
});
