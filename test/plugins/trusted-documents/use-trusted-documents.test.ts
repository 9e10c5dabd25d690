import { hash } from 'node:crypto';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Documents } from '../../../src/plugins/documents/documents.ts';
import { Operation, type TransportContext } from '../../../src/plugins/operation.ts';
import { GRAPH, type OperationContext } from '../../../src/plugins/plugin.ts';
import type { TrustedDocuments } from '../../../src/plugins/trusted-documents/trusted-documents.ts';
import {
  PersistedTexts,
  useTrustedDocuments,
} from '../../../src/plugins/trusted-documents/use-trusted-documents.ts';

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

function contextOf(query: string | null, documentId: string | null) {
  const record = { type: null, isTrusted: false, operationName: null, failed() {} };
  const operation = new Operation({ record } as unknown as TransportContext, undefined);
  operation.params = { query, documentId, operationName: null, variables: {} };
  const context = { operation } as OperationContext;
  return Object.assign(context, { [GRAPH]: context });
}

function setUp(trustedOnly: 'off' | 'log' | 'on' = 'off', logged: unknown[] = []) {
  return useTrustedDocuments({
    registered: new PersistedTexts(),
    trustedOnly,
    log: { warn: (members: unknown) => void logged.push(members) } as never,
    trusted,
  });
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

test('a document that is not trusted is logged once, under the name that it is sent with', () => {
  const logged: unknown[] = [];
  const plugin = setUp('log', logged);
  const send = (query: string, operationName: string | null = null) => {
    const context = contextOf(query, null);
    context.operation.params = { ...context.operation.params, operationName };
    expect(plugin.onAdmit?.(context)).toBeNull();
    plugin.onValidate?.({ context } as never);
  };
  send('{ a }');
  for (let time = 0; time < 3; time += 1) send('{ b: a }', 'n'.repeat(200));
  send('{ c: a }');
  expect(logged).toEqual([
    { document: hash('sha256', '{ b: a }', 'hex'), operationName: 'n'.repeat(100) },
    { document: hash('sha256', '{ c: a }', 'hex'), operationName: null },
  ]);
});

test('only trusted documents are answered where that is the policy', () => {
  const plugin = setUp('on');
  expect(plugin.onAdmit?.(contextOf('{ a }', null))).toBeNull();
  expect(plugin.onAdmit?.(contextOf('{ b: a }', null))).toMatchObject({
    errors: [{ extensions: { code: 'PERSISTED_DOCUMENT_REQUIRED' } }],
  });
});
