import { createHash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { beforeEach, describe, expect, test } from 'vitest';
import { samplesOf } from '../../../client/test/support/samples.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { seriesValue } from '../operations/scraped.ts';
import { codesOf, TRANSPORTS } from './every-transport.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** The extensions of a request that names a document by its hash, as Apollo’s clients send them. */
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

const SCREEN = 'query Screen { session { login } }';
const SYMBOLS = 'query Symbols($n: Int) { instruments(first: $n) { nodes { symbol } } }';
const FEED = 'subscription Feed { positionChanges { cursor snapshot } }';
const UNKNOWN = '{ customerId }';

const published = { [sha256(SCREEN)]: SCREEN, 'feed-1': FEED };

const folder = ownFolder();
let manifest: string;

beforeEach(async () => {
  manifest = join(folder.path, 'manifest.json');
  await writeFile(manifest, JSON.stringify(published));
});

const start = (only: 'on' | 'log', environment = {}) =>
  startTestApp({ PERSISTED_DOCUMENTS: manifest, PERSISTED_DOCUMENTS_ONLY: only, ...environment });

const demoToken = (app: TestApp) => app.sandbox.token({ email: 'demo@example.com' });

describe.each(TRANSPORTS)('by %s', (transport, ask) => {
  test('with PERSISTED_DOCUMENTS_ONLY a trusted document is executed by its id or text, and others are refused', async () => {
    await using app = await start('on');
    const token = demoToken(app);
    for (const [code, asked] of [
      ['PERSISTED_DOCUMENT_REQUIRED', { query: UNKNOWN }],
      ['PERSISTED_DOCUMENT_REQUIRED', { query: `${SCREEN} ` }],
      ['PERSISTED_DOCUMENT_REQUIRED', { query: UNKNOWN, documentId: sha256(UNKNOWN) }],
      ['BAD_USER_INPUT', { query: UNKNOWN, documentId: sha256(SCREEN) }],
      ['PERSISTED_DOCUMENT_NOT_FOUND', { documentId: sha256(UNKNOWN) }],
      // The refused document was not stored.
      ['PERSISTED_DOCUMENT_NOT_FOUND', { extensions: persisted(sha256(UNKNOWN)) }],
    ] as const) {
      expect(codesOf(await ask(app, asked, token)), JSON.stringify(asked)).toEqual([code]);
    }
    expect(app.sandbox.calls()).toBe(0);
    for (const asked of [
      { documentId: sha256(SCREEN) },
      { documentId: `sha256:${sha256(SCREEN)}` },
      { documentId: sha256(SCREEN).toUpperCase(), operationName: 'Screen' },
      { extensions: persisted(sha256(SCREEN)) },
      { query: '', extensions: persisted(sha256(SCREEN)) },
      { query: '', documentId: sha256(SCREEN), extensions: persisted(sha256(SCREEN)) },
      { query: SCREEN, extensions: persisted(sha256(SCREEN)) },
      { query: SCREEN },
    ]) {
      const answer = await ask(app, asked, token);
      expect(answer.errors).toBeUndefined();
      expect(answer.data).toEqual({ session: { login: '700001' } });
    }
    // POST and GET of JSON have no subscriptions.
    if (transport === 'POST' || transport === 'GET') return;
    const { data } = await ask(app, { documentId: 'feed-1' }, token);
    expect(data.positionChanges.snapshot).toBe(true);
  });

  test('without a manifest a document needs its text, even if its hash is sent', async () => {
    await using app = await startTestApp();
    const token = demoToken(app);
    const extensions = persisted(sha256(UNKNOWN));
    const wrongHash = { query: '{ __typename }', extensions };
    expect(codesOf(await ask(app, wrongHash, token))).toEqual(['BAD_USER_INPUT']);
    const expected = { customerId: 'cus_700001' };
    expect((await ask(app, { query: UNKNOWN, extensions }, token)).data).toEqual(expected);
    // The unknown document can be a mutation, so the error says that nothing was sent.
    const unknown = { code: 'PERSISTED_DOCUMENT_NOT_FOUND', retryable: false, sent: false };
    expect((await ask(app, { extensions }, token)).errors).toEqual([
      { message: 'PersistedQueryNotSupported', extensions: unknown },
    ]);
  });
});

test('graphql-ws subscribes by an id, as docs/trusted-documents.md prints it', async () => {
  await using app = await start('on');
  const samples = samplesOf('docs/trusted-documents.md', 'Send an id');
  const [printed] = samples.filter(({ language }) => language === 'ts');
  const run = new Function('ws', 'sink', printed?.text.replace('d4a1…', 'feed-1') ?? '');
  const ws = createClient({
    url: `${app.url.replace('http', 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${demoToken(app)}` },
    retryAttempts: 0,
  });
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  run(ws, { next: resolve, error: reject, complete: () => {} });
  expect(await promise).toMatchObject({ data: { positionChanges: { snapshot: true } } });
  await ws.dispose();
});

test.each([
  ['no hash', { extensions: { persistedQuery: { version: 1 } } }],
  ['no object', { extensions: { persistedQuery: 'x' } }],
])('an invalid id is refused: %s', async (_name, asked) => {
  await using app = await startTestApp();
  const { status, text } = await rawPost(`${app.url}/graphql`, JSON.stringify(asked));
  expect(status).toBe(400);
  expect(codesOf(JSON.parse(text))).toEqual(['GRAPHQL_PARSE_FAILED']);
});

test('with `log` every document is answered, and an untrusted document is logged once', async () => {
  await using app = await start('log');
  const token = demoToken(app);
  const operationName = 'N'.repeat(200);
  const query = `query ${operationName} ${UNKNOWN}`;
  for (const [, ask] of TRANSPORTS) {
    expect(codesOf(await ask(app, { query, operationName }, token))).toEqual([]);
    expect(codesOf(await ask(app, { query: SCREEN }, token))).toEqual([]);
  }
  const warnings = app.logged.filter((line) => line.includes('not trusted'));
  expect(warnings).toHaveLength(1);
  expect(JSON.parse(warnings[0] ?? '')).toMatchObject({
    document: sha256(query),
    operationName: 'N'.repeat(100),
  });
  expect(warnings[0]).not.toContain('customerId');
});

describe('the manifests', () => {
  const isKnown = async (app: TestApp, text: string) => {
    const answer = await rawRequest(`${app.url}/graphql?documentId=${sha256(text)}`);
    return !codesOf(JSON.parse(answer.text)).includes('PERSISTED_DOCUMENT_NOT_FOUND');
  };

  test('are read from all files of a folder, without invalid entries', async () => {
    const documents = { [sha256(SYMBOLS)]: SYMBOLS, stale: '{ gone }' };
    await writeFile(join(folder.path, 'b.json'), JSON.stringify(documents));
    await writeFile(join(folder.path, 'README.md'), 'no manifest');
    await using app = await start('on', { PERSISTED_DOCUMENTS: folder.path });
    expect(await isKnown(app, SCREEN)).toBe(true);
    expect(await isKnown(app, SYMBOLS)).toBe(true);
    expect(await isKnown(app, UNKNOWN)).toBe(false);
    const errors = ['Cannot query field "gone" on type "Query".'];
    const lines = app.logged.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ id: 'stale', errors }));
    expect(lines).toContainEqual(expect.objectContaining({ documents: 3, leftOut: 1 }));
  });

  test('are read again when they change, but an invalid change has no effect', async () => {
    await using app = await start('on');
    const unreadableCount = () => seriesValue(app, 'manifest_unreadable');
    expect(await unreadableCount()).toBe(0);
    await writeFile(manifest, '{ "half": ');
    await eventually(() => app.logged.some((line) => line.includes('manifest')));
    expect(await isKnown(app, SCREEN)).toBe(true);
    expect(await unreadableCount()).toBe(1);
    const replaced = join(folder.path, 'next.tmp');
    await writeFile(replaced, JSON.stringify({ [sha256(SYMBOLS)]: SYMBOLS }));
    await rename(replaced, manifest);
    await eventually(() => isKnown(app, SYMBOLS));
    expect(await isKnown(app, SCREEN)).toBe(false);
    expect(await unreadableCount()).toBe(0);
    await writeFile(manifest, JSON.stringify(published));
    await eventually(() => isKnown(app, SCREEN));
  });
});
