import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { RequestSummary } from '../../../src/engine/core/request-summary.ts';
import { Documents } from '../../../src/engine/documents/documents.ts';
import { TrustedDocuments } from '../../../src/engine/documents/trusted-documents.ts';
import { eventually } from '../../support/eventually.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const schema = buildSchema('type Query { field: Int }');
const folder = ownFolder();

test('a folder is read every second: new, edited and removed files take effect', async () => {
  const clock = createScriptedClock();
  const documents = new Documents({
    schema,
    limits: { maxTokens: 100, maxDepth: 10, maxAliases: 10, maxDirectives: 10 },
    introspection: true,
  });
  const log = { info() {}, warn() {} };
  const { path } = folder;
  const trusted = await TrustedDocuments.open({ path, trustedOnly: 'off', documents, clock, log });
  const manifest = join(folder.path, 'a.json');
  const text = '{ field }';
  const find = (query: string | null, documentId: string | null) => {
    const params = { query, documentId, operationName: null, variables: {} };
    try {
      return trusted.find(params, {} as RequestSummary).query;
    } catch {
      return null;
    }
  };

  /** Expects that within two seconds exactly these ids are known. */
  const expectKnown = async (...ids: string[]) => {
    const untilMs = clock.now() + 2_000;
    // A file may be read while it is being written.
    await eventually(async () => {
      await clock.advance(20);
      const known = ['one', 'two'].filter((id) => find(null, id) !== null);
      return known.join() === ids.join();
    });
    expect(clock.now()).toBeLessThan(untilMs);
  };

  await writeFile(manifest, JSON.stringify({ one: text }));
  await expectKnown('one');
  await writeFile(manifest, JSON.stringify({ one: text, two: '{ field field }' }));
  await expectKnown('one', 'two');
  expect(find(null, 'one')).toBe(text);
  await rm(manifest);
  await expectKnown();
  await eventually(() => clock.pending === 1);
  trusted.close();
  expect(clock.pending).toBe(0);
});
