import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

function page(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

test('every npm script first installs packages if needed, and is then replaced by its program', () => {
  const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> };
  // These scripts need no package.
  const { 'pack:client': _pack, audit: _audit, ...others } = scripts;
  // These scripts need no packages of tests.
  const ofService = ['start', 'dev', 'sandbox', 'check'];
  const wrong = Object.entries(others).filter(([name, script]) => {
    const packages = ofService.includes(name) ? '' : ' all';
    const begin = `node scripts/setup.mjs${packages} && `;
    const rest = script.slice(begin.length);
    return !script.startsWith(begin) || !/^(NODE_COMPILE_CACHE=\S+ )?exec node \S+/.test(rest);
  });
  expect(wrong).toEqual([]);
});

test.each(['README.md', 'CONTRIBUTING.md'])('%s names only existing commands', (name) => {
  const { scripts } = JSON.parse(page('package.json')) as { scripts: Record<string, string> };
  const commands = [...page(name).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test))/g)];
  const named = commands.map(([, run, short]) => run ?? short ?? '');
  expect(named.filter((command) => !(command in scripts))).toEqual([]);
  expect(new Set(named).size).toBeGreaterThan(4);
});
