import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { Documents } from '../../../src/plugins/documents/documents.ts';
import { openTrustedDocuments } from '../../../src/plugins/trusted-documents/trusted-documents.ts';

const folder = await mkdtemp(join(tmpdir(), 'trading-graph-trusted-'));
afterAll(() => rm(folder, { recursive: true }));

test('what a manifest has is counted in the log, with what does not fit and is left out', async () => {
  const path = join(folder, 'manifest.json');
  await writeFile(
    path,
    JSON.stringify({ good: 'query Q { a }', again: 'query Q { a }', bad: '{ b' }),
  );
  const logged: unknown[] = [];
  const note = (fields: unknown) => void logged.push(fields);
  const limits = { maxTokens: 100, maxDepth: 5, maxAliases: 5, maxDirectives: 5 };
  const schema = buildSchema('type Query { a: Int }');
  const names: string[] = [];
  const trusted = await openTrustedDocuments({
    path,
    documents: new Documents({ schema, limits, introspection: true }),
    compiles: false,
    clock: systemClock,
    log: { info: note, warn: note },
    onLoaded: (operationNames) => names.push(...operationNames),
  });
  trusted.close();
  expect(logged).toEqual([
    { id: 'bad', errors: [expect.stringContaining('Syntax Error')] },
    { documents: 2, leftOut: 1 },
  ]);
  expect(names).toEqual(['Q']);
  expect(trusted.byId('again')).toBe(trusted.byId('good'));
  expect(trusted.byId('bad')).toBeUndefined();
});
