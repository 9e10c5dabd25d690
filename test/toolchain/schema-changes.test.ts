import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const schema = readFileSync(join(root, 'schema.graphql'), 'utf8');

/** An older schema, with more fields and values, and an argument of `customerId`. */
const former = (deprecated: string) =>
  `${schema.replace(/^ {2}customerId: /m, `  customerId(day: Int ${deprecated}): `)}
extend type Query { catalogAt(day: Int ${deprecated}): Int ${deprecated} }
extend input PlaceOrderInput { day: Int ${deprecated} }
extend enum Side { HOLD ${deprecated} }`;

test.each([
  ['the same fields', 0, schema, /^$/],
  [
    'one field less',
    0,
    schema.replace(/^ {2}"""[^"]*"""\n {2}customerId: .*\n/m, ''),
    /^safe {7}Field \w+\.customerId was added\.$/m,
  ],
  ['more fields, values and arguments', 1, former(''), /^(breaking .* was removed\.\n){4}/m],
  [
    'more fields, values and arguments, all deprecated',
    0,
    former('@deprecated'),
    /^(announced .* was removed\.\n){4}/m,
  ],
  ['a syntax error', 2, 'type {', /- is no schema that can be read: Syntax Error/],
])('if the old schema has %s, the script exits with %i', (_, status, old, expected) => {
  const script = join(root, 'scripts', 'schema-changes.ts');
  const run = spawnSync(process.execPath, [script, '-'], { input: old, encoding: 'utf8' });
  expect(run.stdout + run.stderr).toMatch(expected);
  expect(run.status).toBe(status);
});

const folder = ownFolder();

test('the schema is compared with the last release, and without a release the comparison fails', () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder.path,
    });
  const commit = (text: string) => {
    writeFileSync(join(folder.path, 'schema.graphql'), text);
    git('add', 'schema.graphql');
    git('commit', '-qm', 'a schema');
  };
  const compare = () =>
    spawnSync(process.execPath, [join(root, 'scripts', 'schema-changes.ts')], {
      cwd: folder.path,
      encoding: 'utf8',
    });
  git('init', '-q');
  commit(former(''));
  git('tag', 'a-tag-of-another-kind');
  expect(compare()).toMatchObject({ status: 2, stderr: expect.stringContaining('no tag') });
  git('tag', 'v1.0.0');
  commit(schema);
  expect(compare()).toMatchObject({ status: 1, stdout: expect.stringMatching(/^breaking /) });
});
