import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClientSchema, type IntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import { printedSchema } from '../../src/schema/schema.ts';
import { runCli } from '../support/run-cli.ts';

const SDL = readFileSync(join(import.meta.dirname, '..', '..', 'schema.graphql'), 'utf8');

test('the JSON is the result of an introspection query, even with introspection off', async () => {
  const { code, out } = await runCli(['schema', '--json'], { GRAPHIQL: 'off' });
  expect(code).toBe(0);
  const schema = buildClientSchema(JSON.parse(out) as IntrospectionQuery);
  expect(`${printedSchema(schema)}\n`).toBe(SDL);
});
