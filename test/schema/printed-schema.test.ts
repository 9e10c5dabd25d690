import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema as parseSchema } from 'graphql';
import { expect, test } from 'vitest';
import { schemaFile } from '../../scripts/print-schema.ts';
import { startTestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw-request.ts';

const path = join(import.meta.dirname, '..', '..', 'schema.graphql');

test('schema.graphql is what the code says (else: npm run docs)', () => {
  expect(readFileSync(path, 'utf8')).toBe(schemaFile());
});

test('schema.graphql is what the server says', async () => {
  await using app = await startTestApp();
  const { headers, text } = await rawRequest(`${app.url}/schema.graphql`);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text.trim()).toBe(schemaFile().trim());
});

test('schema.graphql stands on its own', () => {
  expect(parseSchema(schemaFile()).getQueryType()?.name).toBe('Query');
});
