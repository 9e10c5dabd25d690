import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DescribedOperation } from '../../src/gateway/operation-traits.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { runCli } from '../support/run-cli.ts';

const docs = join(import.meta.dirname, '../../docs');
const PUBLISHED = readFileSync(join(docs, 'openapi.json'), 'utf8');

test('the command `interface` prints the published OpenAPI document', async () => {
  const { code, out } = await runCli(['interface']);
  expect({ code, out }).toEqual({ code: 0, out: PUBLISHED });
});

test('every call of an operation is described, with a schema of its answer', () => {
  const { paths, components } = JSON.parse(PUBLISHED);
  for (const operation of Object.values<DescribedOperation>(OPERATIONS)) {
    for (const { method, path } of Object.values(operation.calls)) {
      const { responses } = paths[path][method.toLowerCase()];
      const { schema } = responses[200].content['application/json'];
      const name = JSON.stringify(schema).match(/#\/components\/schemas\/(\w+)/)?.[1] ?? '';
      expect(Object.keys(components.schemas[name].properties).length).toBeGreaterThan(0);
    }
  }
});
