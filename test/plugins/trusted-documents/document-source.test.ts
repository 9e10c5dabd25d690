import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Documents } from '../../../src/plugins/documents/documents.ts';
import { DocumentSource } from '../../../src/plugins/trusted-documents/document-source.ts';
import type { TrustedDocuments } from '../../../src/plugins/trusted-documents/trusted-documents.ts';

const limits = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };
const schema = buildSchema('type Query { a: Int }');
const request = (text: string | null, id: string | null = null) => ({
  id,
  text,
  operationName: null,
  variables: {},
});

function sourceOf(published: string | null) {
  const documents = new Documents({ schema, limits, introspection: true });
  const other = new Documents({ schema, limits, introspection: true });
  const prepared = published === null ? null : other.prepare(published);
  const known = prepared && { text: published, prepared };
  const trusted = {
    byId: (id: string) => (id === 'published' ? known : undefined),
    byText: (text: string) => (text === published ? known : undefined),
  } as unknown as TrustedDocuments;
  return new DocumentSource({
    documents,
    trusted: published === null ? null : trusted,
    trustedOnly: 'off',
    log: { warn: () => {} },
  });
}

test('a document is prepared once it was found, under whatever name', () => {
  const source = sourceOf(null);
  expect(source.isPrepared(request('{ a }'))).toBe(false);
  source.find(request('{ a }'));
  expect(source.isPrepared(request('{ a }'))).toBe(true);
  expect(source.isPrepared(request('{ b: a }'))).toBe(false);
  // An id that nobody has registered is refused without any work.
  expect(source.isPrepared(request(null, 'unknown'))).toBe(true);
});

test('a trusted document is prepared from the start, by its id and by its text', () => {
  const source = sourceOf('{ a }');
  expect(source.isPrepared(request(null, 'published'))).toBe(true);
  expect(source.isPrepared(request('{ a }'))).toBe(true);
  expect(source.isPrepared(request('{ b: a }', 'other'))).toBe(false);
});
