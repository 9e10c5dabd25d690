import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { Documents } from '../../../engine/documents/documents.ts';
import { openTrustedDocuments } from '../../../engine/trusted-documents/trusted-documents.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

test('a manifest is watched until it is closed, and not at all where the start fails for it', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'manifest-'));
  const path = join(folder.path, 'manifest.json');
  const limits = { maxTokens: 9, maxDepth: 9, maxAliases: 9, maxDirectives: 9 };
  const schema = buildSchema('type Query { a: Int }');
  const documents = new Documents({ schema, limits, introspection: true });
  const clock = createScriptedClock();
  const log = { info() {}, warn() {} };
  const open = () => openTrustedDocuments({ path, documents, clock, log });
  writeFileSync(path, '{ "a": "{ a }" }');
  const trusted = await open();
  expect([trusted.byId('a')?.text, clock.pending]).toEqual(['{ a }', 1]);
  trusted.close();
  expect(clock.pending).toBe(0);
  writeFileSync(path, '{');
  await expect(open()).rejects.toThrow('manifest.json');
  expect(clock.pending).toBe(0);
});
