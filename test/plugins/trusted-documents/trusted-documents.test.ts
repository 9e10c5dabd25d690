import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { Documents } from '../../../src/plugins/documents/documents.ts';
import { TrustedDocuments } from '../../../src/plugins/trusted-documents/trusted-documents.ts';

const folder = await mkdtemp(join(tmpdir(), 'trading-graph-trusted-'));
afterAll(() => rm(folder, { recursive: true }));

test('what manifests of both kinds have is counted in the log, with what does not fit and is left out', async () => {
  const plain = { good: 'query Q { a }', again: 'query Q { a }', bad: '{ b' };
  await writeFile(join(folder, 'a.json'), JSON.stringify(plain));
  const operations = [{ id: 'other', body: 'query R { a }' }];
  const apollo = { format: 'apollo-persisted-query-manifest', version: 1, operations };
  await writeFile(join(folder, 'b.json'), JSON.stringify(apollo));
  const logged: unknown[] = [];
  const note = (fields: unknown) => void logged.push(fields);
  const limits = { maxTokens: 100, maxDepth: 5, maxAliases: 5, maxDirectives: 5 };
  const schema = buildSchema('type Query { a: Int }');
  const names: string[] = [];
  const trusted = await TrustedDocuments.open({
    path: folder,
    documents: new Documents({ schema, limits, introspection: true }),
    clock: systemClock,
    log: { info: note, warn: note },
    onLoaded: (operationNames) => names.push(...operationNames),
  });
  trusted.close();
  expect(logged).toEqual([
    { id: 'bad', errors: [expect.stringContaining('Syntax Error')] },
    { documents: 3, leftOut: 1 },
  ]);
  expect(names).toEqual(['Q', 'R']);
  expect(trusted.byId('again')).toBe(trusted.byId('good'));
  expect(trusted.byId('bad')).toBeUndefined();
});
