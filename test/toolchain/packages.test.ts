import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const script = (name: string) => join(root, 'scripts', name);

const folder = ownFolder();

function install(name: string, manifest: object): void {
  mkdirSync(join(folder.path, 'node_modules', name), { recursive: true });
  writeFileSync(join(folder.path, 'node_modules', name, 'package.json'), JSON.stringify(manifest));
}

test.each([
  [
    'that are allowed',
    { a: 'MIT', 'a/node_modules/b': '(MIT OR GPL-3.0-only)', d: 'MIT AND ISC' },
    [],
  ],
  [
    'that are not allowed, not named or not installed',
    { a: 'MIT AND GPL-3.0-only', 'a/node_modules/b': 'AGPL-3.0-only', d: undefined, e: null },
    [
      'a: the licence MIT AND GPL-3.0-only is not allowed',
      'a/node_modules/b: the licence AGPL-3.0-only is not allowed',
      'd: no licence is named in its package.json',
      'e: not installed',
    ],
  ],
])('production packages with licences %s', (_what, licenses, problems) => {
  // Development tools and optional packages that are not installed are not checked.
  const packages: Record<string, object> = {
    '': {},
    'node_modules/tool': { dev: true },
    'node_modules/c': { optional: true },
  };
  install('tool', { license: 'AGPL-3.0-only' });
  for (const [name, license] of Object.entries(licenses)) {
    packages[`node_modules/${name}`] = {};
    if (license !== null) install(name, { license });
  }
  writeFileSync(join(folder.path, 'package-lock.json'), JSON.stringify({ packages }));
  const args = [script('check-licenses.ts'), folder.path];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe(problems.map((problem) => `node_modules/${problem}\n`).join(''));
  expect(status).toBe(problems.length === 0 ? 0 : 1);
});

test('the client is packed with the licence', () => {
  const options = { cwd: join(root, 'client'), encoding: 'utf8' } as const;
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options);
  expect(packed).toMatch(/"path": "LICENSE"/);
  const [own, whole] = ['client/LICENSE', 'LICENSE'].map((name) =>
    readFileSync(join(root, name), 'utf8'),
  );
  expect(own).toBe(whole);
});
