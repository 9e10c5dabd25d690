import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const schema = readFileSync(join(root, 'schema.graphql'), 'utf8');

function compare(old: string) {
  const script = join(root, 'scripts', 'schema-changes.ts');
  return spawnSync(process.execPath, [script, '-'], { input: old, encoding: 'utf8' });
}

test('the same schema has no changes', () => {
  expect(compare(schema)).toMatchObject({ status: 0, stdout: '' });
});

test('what is added breaks nothing', () => {
  const old = schema.replace(/^ {2}"""[^"]*"""\n {2}customerId: .*\n/m, '');
  expect(old).not.toBe(schema);
  const { status, stdout } = compare(old);
  expect(stdout).toMatch(/^safe {7}Field \w+\.customerId was added\.$/m);
  expect(status).toBe(0);
});

const field = (directive: string) => `extend type Query { former: Int${directive} }`;
const argument = (directive: string) =>
  `extend type Query { catalogAt(day: Int${directive}): Int @deprecated }`;
const value = (directive: string) => `extend enum Side { HOLD${directive} }`;

test.each([
  ['field', field('')],
  ['enum value', value('')],
])('a %s that is removed without notice breaks clients', (_, addition) => {
  const { status, stdout } = compare(`${schema}\n${addition}`);
  expect(stdout).toMatch(/^breaking .* was removed\.$/m);
  expect(status).toBe(1);
});

test.each([
  ['enum value', value(' @deprecated')],
  ['field with an argument', argument(' @deprecated')],
])('a %s that was deprecated may go', (_, addition) => {
  const { status, stdout } = compare(`${schema}\n${addition}`);
  expect(stdout).toMatch(/^announced .* was removed\.$/m);
  expect(status).toBe(0);
});

test.each([
  ['', 1],
  [' @deprecated', 0],
])('an argument "day: Int%s" that is removed ends with %i', (directive, status) => {
  const old = schema.replace(/^ {2}customerId: /m, `  customerId(day: Int${directive}): `);
  expect(old).not.toBe(schema);
  expect(compare(old).status).toBe(status);
});

test('what is no schema is told apart from a change', () => {
  const { status, stderr } = compare('type {');
  expect(stderr).toContain('- is no schema that can be read: Syntax Error');
  expect(status).toBe(2);
});
