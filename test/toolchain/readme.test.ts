import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

function page(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

test('every npm script is told of with a sentence', () => {
  const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> };
  const names = Object.keys(scripts);
  expect(names.length).toBeLessThanOrEqual(16);
  expect(scripts).toEqual(
    Object.fromEntries(names.map((name) => [name, `exec node scripts/run.mjs ${name}`])),
  );
  const run = join(root, 'scripts', 'run.mjs');
  const lines = execFileSync(process.execPath, [run, 'help'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  expect(lines.map((line) => /^npm run (\S+) +\S.*\.$/.exec(line)?.[1])).toEqual(names);
});

test.each(['README.md', 'CONTRIBUTING.md'])('%s names only commands that there are', (name) => {
  const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> };
  const commands = [...page(name).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test))/g)];
  const named = commands.map(([, run, short]) => run ?? short ?? '');
  expect(named.filter((command) => !(command in scripts))).toEqual([]);
  expect(new Set(named).size).toBeGreaterThan(4);
});

test.each([
  ['In production', ['dependencies', 'optionalDependencies']],
  ['For tests and tools', ['devDependencies']],
])('docs/dependencies.md has a line for each package, and no other: %s', (heading, kinds) => {
  const manifest = JSON.parse(page('package.json')) as Record<string, Record<string, string>>;
  const section = page('docs/dependencies.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0];
  const rows = [...(section ?? '').matchAll(/^- (`[^:]+): \S/gm)];
  const named = rows.flatMap(([, cell]) => cell?.match(/(?<=`)[\w@/.-]+(?=`)/g) ?? []);
  expect(named.sort()).toEqual(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})).sort());
});
