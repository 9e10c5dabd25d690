import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema as parseSchema } from 'graphql';
import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw-request.ts';

const FILE = readFileSync(join(import.meta.dirname, '..', '..', 'schema.graphql'), 'utf8');

test('schema.graphql is complete, and equals the served schema (otherwise: npm run docs)', async () => {
  await using app = await startTestApp();
  const { headers, text } = await rawRequest(`${app.url}/schema.graphql`);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text.trim()).toBe(FILE.trim());
  expect(parseSchema(FILE).getQueryType()?.name).toBe('Query');
});
