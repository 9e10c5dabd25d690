import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = ownFolder();

const FILES = {
  'src/a.ts': 'export const a = 1;',
  'src/b.ts': "import { a } from './a.ts';\nexport const b = a;",
  'src/other.ts': 'export const other = 1;',
  'test/a.test.ts': "import { a } from '../src/a.ts';",
  'test/b.test.ts': "const { b } = await import('../src/b.ts');",
  'test/other.test.ts': "import { other } from '../src/other.ts';",
  'test/cases/all.ts': `export const one = await import(\`./\${name}.ts\`);`,
  'test/cases/one.ts': 'export const one = 1;',
  'test/cases.test.ts': "import { one } from './cases/all.ts';",
  'test/bench/a.test.ts': "import { a } from '../../src/a.ts';",
};

test('a change is tried by the tests that reach it by imports, the nearest first, and by none that takes long', () => {
  const path = (name: string) => join(folder.path, name);
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  }
  for (const name of ['scripts/changed-tests.ts', 'test/support/long-suites.ts']) {
    cpSync(join(root, name), path(name));
  }
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder.path, encoding: 'utf8' });
  const nearest = () => run(process.execPath, 'scripts/changed-tests.ts', '--list').trim();
  run('git', 'init', '--quiet');
  run('git', 'add', '.');
  run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'a');
  expect(nearest()).toBe('No test is near to what differs from HEAD.');
  writeFileSync(path('src/a.ts'), 'export const a = 2;');
  expect(nearest().split('\n')).toEqual(['test/a.test.ts', 'test/b.test.ts']);
  writeFileSync(path('test/cases/one.ts'), 'export const one = 2;');
  expect(nearest().split('\n')).toContain('test/cases.test.ts');
  writeFileSync(path('test/bench/a.test.ts'), '// Changed itself.');
  expect(nearest().split('\n')[0]).toBe('test/bench/a.test.ts');
});
