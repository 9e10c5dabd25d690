import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startGraph } from '../../src/testing/start-graph.ts';
import { eventually } from '../support/eventually.ts';
import { ownFolder } from '../support/own-folder.ts';

const folder = ownFolder();
const ROOT = join(import.meta.dirname, '../..');
const extensions = [join(ROOT, 'examples/extension/graph.ts')];
const ALERTS = '{ priceAlerts { id } }';

test('the example’s own test passes in a checkout', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', 'examples/extension/graph.test.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  expect(stdout).toMatch(/^\S+ pass 2$/m);
});

test('a stub sees its calls, and what it throws fails the request that came to it', async () => {
  const seen: Request[] = [];
  const alerts = (request: Request) => {
    seen.push(request);
    if (seen.length > 1) throw new Error('not twice');
    return Response.json({ alerts: [{ id: 'a1' }] }, { headers: { 'x-more': 'a' } });
  };
  await using graph = await startGraph({ extensions, backends: { alerts } });
  const { ask, token } = await graph.signIn('pro@example.com');
  expect(await ask(ALERTS)).toEqual({ data: { priceAlerts: [{ id: 'a1' }] }, errors: [] });
  expect(seen[0]?.headers.get('x-account-login')).toMatch(/^\d+$/);
  const variables = { symbol: 'AAPL' };
  const document = 'query ($symbol: ID!) { instrument(id: $symbol) { id } }';
  expect((await ask(document, variables)).data).toEqual({ instrument: { id: 'AAPL' } });
  const headers = { authorization: `Bearer ${token}` };
  expect((await graph.ask('{ session { id } }', {}, headers)).errors).toEqual([]);
  await expect(ask(ALERTS)).rejects.toThrow('not twice');
  for (let tests = 0; tests < 15; tests += 1) await graph.signIn('pro@example.com');
  await expect(graph.signIn('nobody@example.com')).rejects.toThrow('no user nobody@example.com');
});

test('a live list is followed until its reader leaves, and a refusal is an answer of its own', async () => {
  const lists = [[{ id: 'a1' }], []];
  const alerts = () => Response.json({ alerts: lists.length > 1 ? lists.shift() : lists[0] });
  await using graph = await startGraph({ extensions, backends: { alerts } });
  const { follow } = await graph.signIn();
  const seen: unknown[] = [];
  for await (const { data } of follow<{ changes: { closed: readonly string[] } }>(
    'subscription { changes: priceAlertsChanges { upserted { id } closed } }',
  )) {
    seen.push(data.changes);
    if (data.changes.closed.length > 0) break;
  }
  expect(seen).toEqual([
    { upserted: [{ id: 'a1' }], closed: [] },
    { upserted: [], closed: ['a1'] },
  ]);
  for (const accept of ['text/event-stream', 'application/json']) {
    const { value } = await follow('subscription { none }', {}, { accept }).next();
    expect(value?.errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  }
});

test('what is given as its environment is that of the extensions as well', async () => {
  const graph = `export default ({ builder }) => builder.queryField('given', (t) =>
    t.string({ description: 'x', resolve: () => process.env.NEWS_URL }));`;
  await writeFile(join(folder.path, 'given.mjs'), graph);
  await using started = await startGraph({
    extensions: [join(folder.path, 'given.mjs')],
    environment: { NEWS_URL: 'http://news' },
  });
  expect(await started.ask('{ given }')).toEqual({ data: { given: 'http://news' }, errors: [] });
});

test('a graph has its own settings, ends once, and a start that fails says why', async () => {
  process.env.MAX_DEPTH = '1';
  const graph = await startGraph({
    extensions,
    environment: { MAX_ALIASES: '1', LOGIN_LIMIT_PER_MINUTE: '1' },
  });
  delete process.env.MAX_DEPTH;
  const codesOf = async (query: string) =>
    (await graph.ask(query)).errors.map(({ extensions: { code } }) => code);
  expect(await codesOf('{ a: __typename b: __typename }')).toEqual(['QUERY_TOO_COMPLEX']);
  expect(await codesOf('{ session { id } }')).toEqual(['UNAUTHENTICATED']);
  await eventually(() => graph.logged.some((line) => line.includes('serving')));
  const signIns = async () => {
    for (let tests = 0; tests < 5; tests += 1) await graph.signIn();
  };
  await expect(signIns()).rejects.toThrow('no sign-in of demo@example.com: Too many');
  await graph.close();
  await graph.close();
  await expect(graph.ask('{ __typename }')).rejects.toThrow();
  for (const [given, reason] of [
    [{ extensions: ['no-such.ts'] }, 'there is no file'],
    [
      { extensions, backends: { newz: () => Response.error() } },
      'No extension has a backend newz.',
    ],
    [{ extensions, environment: { PORT: 'none' } }, 'PORT'],
  ] as const) {
    await expect(startGraph(given)).rejects.toThrow(reason);
  }
});
