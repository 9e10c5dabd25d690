import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', name), 'utf8');

test.each([
  ['In production', ['dependencies', 'optionalDependencies']],
  ['For tests and tools', ['devDependencies']],
])('docs/dependencies.md has a line for each package, and no other: %s', (heading, kinds) => {
  const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const section = read('docs/dependencies.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0];
  const rows = [...(section ?? '').matchAll(/^\| (`[^|]+)\| \d{4}-\d\d \|(?:[^|]+\|){3}$/gm)];
  const named = rows.flatMap(([, cell]) => cell?.match(/(?<=`)[\w@/-]+(?=`)/g) ?? []);
  expect(named.sort()).toEqual(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})).sort());
});
