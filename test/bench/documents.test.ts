import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { PLANS } from '../../bench/support/hostile/kinds.ts';
import { KNOWN_DOCUMENTS, knownWriter } from '../../bench/support/hostile/known-documents.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

test.each(KNOWN_DOCUMENTS)('$name: it is still valid', ({ kind, ...known }) => {
  const document = parse(knownWriter(known)().text);
  expect(validate(schema, document)).toEqual([]);
  expect(document.definitions[0]).toMatchObject({ operation: PLANS[kind].operation });
});
