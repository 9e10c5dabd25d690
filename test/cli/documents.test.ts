import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { ownFolder } from '../support/own-folder.ts';
import { runCli } from '../support/run-cli.ts';

const CLIENT = join(import.meta.dirname, '..', '..', 'client', 'trusted-documents.json');

const folder = ownFolder();

function manifest(documents: unknown, name = 'manifest.json'): string {
  const path = join(folder.path, name);
  writeFileSync(path, typeof documents === 'string' ? documents : JSON.stringify(documents));
  return path;
}

/** Without the lines that say how far it is, which come where it takes longer than a second. */
async function check(...args: string[]) {
  const { err, ...rest } = await runCli(['documents', 'check', ...args]);
  return { ...rest, err: err.replaceAll(/^… .*\n/gm, '') };
}

test("the client's own documents are fine", async () => {
  const { code, out, err } = await check(CLIENT);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^query +TradingGraphAccount +cost +2$/m);
  expect(out).toMatch(/^mutation +PlaceOrder +cost +\d+$/m);
  expect(out).toContain('13 documents: 13 fine. MAX_COST is 250,000.');
  expect(out).toMatch(/^\d+ of \d+ fields of the schema are used; --fields lists each\.$/m);
  // Unused fields are summed up by their types.
  expect(out.split('\n').length).toBeLessThan(30);
});

test('a cost is what the server itself estimates', async () => {
  const query = '{ positions { id profit } instruments(first: 20) { nodes { id name } } }';
  const { out } = await check(manifest({ home: query }), '--json');
  const value = JSON.parse(out).documents[0].operations[0].cost;
  await using app = await startTestApp({ MAX_COST: String(value - 1) });
  const { errors } = await app.query(query, { token: await app.signIn() });
  expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', value } }]);
});

test('an invalid document and one over the limit are named, beside those that are fine', async () => {
  const path = manifest({
    good: 'query Good { session { balance } }',
    typo: 'query Typo { session { balanse } }',
    broken: 'query Broken {',
    dear: 'query Dear { catalog { instruments { id name symbol description } } }',
  });
  const { code, out } = await runCli(['documents', 'check', path], { MAX_COST: '4000' });
  expect(code).toBe(1);
  expect(out).toMatch(/^query +Good +cost +2$/m);
  expect(out).toMatch(/^query +Dear +cost +4,\d+ +OVER MAX_COST/m);
  expect(out).toMatch(/^INVALID {2}typo$/m);
  expect(out).toContain(
    'GRAPHQL_VALIDATION_FAILED: Cannot query field "balanse" on type "Session". Did you mean "balance"? (line 1, column 24)',
  );
  expect(out).toMatch(/^INVALID {2}broken\n {2}GRAPHQL_PARSE_FAILED: .+\(line 1, column 15\)$/m);
  expect(out).toContain('4 documents: 1 fine, 2 invalid, 1 over MAX_COST. MAX_COST is 4,000.');
});

test('a subgraph’s documents may ask for what its router asks', async () => {
  const path = manifest({
    entities: 'query Entities($of: [_Any!]!) { _entities(representations: $of) { __typename } }',
  });
  const { code, out } = await runCli(['documents', 'check', path], { FEDERATION: 'on' });
  expect(out).toMatch(/^query +Entities +cost /m);
  expect(code).toBe(0);
  expect((await runCli(['documents', 'check', path])).code).toBe(1);
});

test('the limits of the configuration count, and so does the size of the catalog', async () => {
  const path = manifest({
    deep: 'query Deep { session { access { id } } catalog { instruments { id } } }',
  });
  const shallow = await runCli(['documents', 'check', path], { MAX_DEPTH: '2' });
  expect(shallow.code).toBe(1);
  expect(shallow.out).toContain('QUERY_TOO_COMPLEX: The query is ');
  const costOf = async (...args: string[]) =>
    JSON.parse((await check(path, '--json', ...args)).out).documents[0].operations[0].cost;
  expect((await costOf('--instruments', '5000')) - (await costOf())).toBe(4_000);
});

test('the report as JSON counts the documents of each field', async () => {
  const path = manifest({
    one: 'query One { session { balance } }',
    two: 'query Two($with: Boolean!) { session { balance equity @include(if: $with) } }',
  });
  const { code, out } = await check(path, '--json');
  expect(code).toBe(0);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ ok: true, maxCost: 250_000 });
  expect(report.documents[1]).toEqual({
    id: 'two',
    valid: true,
    isOverMaxCost: false,
    operations: [{ name: 'Two', type: 'query', cost: 3, mostCost: 3 }],
    deprecated: {},
    fields: ['Query.session', 'Session.balance', 'Session.equity'],
  });
  expect(report.fields).toMatchObject({
    'Query.session': 2,
    'Session.balance': 2,
    'Session.equity': 1,
    'Session.credit': 0,
  });
});

describe('manifests are read as the server reads them', () => {
  test('a folder, several files, and the one that PERSISTED_DOCUMENTS names', async () => {
    manifest({ a: 'query A { session { login } }' }, 'a.json');
    manifest({ b: 'query B { session { login } }' }, 'b.json');
    expect((await check(folder.path)).out).toContain('2 documents: 2 fine');
    expect((await check(folder.path, CLIENT)).out).toContain('15 documents: 15 fine');
    const configured = await runCli(['documents', 'check'], { PERSISTED_DOCUMENTS: folder.path });
    expect(configured.out).toContain('2 documents: 2 fine');
  });

  test('each that cannot be read has a line', async () => {
    const paths = [
      manifest('{', 'half.json'),
      manifest({ format: 'other', operations: [] }, 'other.json'),
      join(folder.path, 'missing.json'),
      manifest({ a: 'query A { session { login } }' }, 'a.json'),
      manifest({ a: 'query A { session { group } }' }, 'b.json'),
    ];
    const { code, out, err } = await check(...paths);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trimEnd().split('\n').sort()).toEqual([
      expect.stringContaining('b.json: the id a has two different documents'),
      expect.stringMatching(/half\.json: .*JSON/),
      expect.stringContaining('missing.json: there is no such file or folder'),
      expect.stringContaining('other.json: it is no apollo-persisted-query-manifest of version 1'),
    ]);
  });
});
